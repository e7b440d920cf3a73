#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
/* Runs networks under ONNX Runtime, one for each line on standard input: the line is a folder with
 * model.onnx, inputs.txt (a line for each: name, type, dimensions) and their elements in in_0.bin and so
 * on. Writes the outputs as doubles: onnxruntime_0.bin and so on, their dimensions in onnxruntime.txt.
 * Answers each line with "ok", or with "refused: " and why.
 *
 *   node onnxruntime.js FOLDER   where FOLDER/node_modules has onnxruntime-node
 */
const fs = require('fs');
const path = require('path');
const ort = require(require.resolve('onnxruntime-node', { paths: [path.resolve(process.argv[2])] }));
const arrays = { float32: Float32Array, float16: Uint16Array, uint8: Uint8Array, int8: Int8Array, int32: Int32Array,
  int64: BigInt64Array, bool: Uint8Array };

function half(h) {
  const sign = h & 0x8000 ? -1 : 1, e = (h >> 10) & 31, m = h & 1023;
  if (e === 31) return m ? NaN : sign * Infinity;
  return sign * (e ? 2 ** (e - 15) * (1 + m / 1024) : 2 ** -14 * (m / 1024));
}

function readInputs(folder) {
  const feeds = {};
  fs.readFileSync(path.join(folder, 'inputs.txt'), 'utf8').split('\n').filter(Boolean).forEach((line, i) => {
    const [name, type, ...dims] = line.split(' ');
    const bytes = fs.readFileSync(path.join(folder, `in_${i}.bin`));
    const data = new arrays[type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    feeds[name] = new ort.Tensor(type, data, dims.map(Number));
  });
  return feeds;
}

async function run(folder) {
  const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'),
    { intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: 'disabled', logSeverityLevel: 4 });
  try {
    const results = await session.run(readInputs(folder));
    let text = '';
    session.outputNames.forEach((name, i) => {
      const t = results[name];
      const number = t.type === 'float16' && t.data instanceof Uint16Array ? half : Number;
      const doubles = Float64Array.from(t.data, number);
      fs.writeFileSync(path.join(folder, `onnxruntime_${i}.bin`), Buffer.from(doubles.buffer));
      text += t.dims.join(' ') + '\n';
    });
    fs.writeFileSync(path.join(folder, 'onnxruntime.txt'), text);
  } finally {
    await session.release();
  }
}

async function main() {
  for await (const line of require('readline').createInterface({ input: process.stdin })) {
    try {
      await run(line);
      console.log('ok');
    } catch (e) {
      console.log('refused: ' + String(e.message || e).split('\n').join(' ').slice(0, 300));
    }
  }
}

main();
