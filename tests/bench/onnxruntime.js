#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
/* Time ONNX models under ONNX Runtime's CPU provider: the peer for side-by-side figures.
 *
 *   npm install --ignore-scripts onnxruntime-node      (the library is inside the package)
 *   node onnxruntime.js THREADS RUNS MODEL.onnx...       prints one JSON line a model: median, min and p90 in ms, peak RSS in MB
 * Inputs are filled with a fixed ramp in [0, 1); one float32 input is expected. */
const ort = require(require.resolve('onnxruntime-node', { paths: [process.cwd(), __dirname] }));
(async () => {
  const [threads, runs, ...models] = process.argv.slice(2);
  for (const file of models) {
    const s = await ort.InferenceSession.create(file, { intraOpNumThreads: +threads, graphOptimizationLevel: 'all' });
    const meta = s.inputMetadata ? s.inputMetadata[0] : null;
    const dims = meta && meta.shape ? meta.shape.map(d => (typeof d === 'number' && d > 0 ? d : 1)) : [1, 3, 1080, 1920];
    const n = dims.reduce((a, b) => a * b, 1);
    const t = new ort.Tensor('float32', new Float32Array(n).map((_, i) => (i % 255) / 255), dims);
    const feed = { [s.inputNames[0]]: t };
    await s.run(feed);
    const ms = [];
    for (let i = 0; i < +runs; i++) {
      const b = process.hrtime.bigint();
      await s.run(feed);
      ms.push(Number(process.hrtime.bigint() - b) / 1e6);
    }
    ms.sort((a, b) => a - b);
    console.log(JSON.stringify({ model: file, threads: +threads, runs: ms.length, median_ms: +ms[ms.length >> 1].toFixed(1),
      min_ms: +ms[0].toFixed(1), p90_ms: +ms[Math.floor(ms.length * 0.9)].toFixed(1), rss_mb: process.memoryUsage().rss / 1e6 | 0 }));
  }
})();
