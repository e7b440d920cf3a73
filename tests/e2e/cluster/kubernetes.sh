#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The jobs for Kubernetes: what kubectl makes of them is valid by its schemas, and what their pods run does the work. No
# server is asked.
. tests/tap.inc

if ! command -v kubectl > /dev/null || ! [ -d "$BUILD/bench/node_modules/kubernetes-models" ]; then
    skip "no kubectl, or no kubernetes-models of npm in $BUILD/bench"
    exit 0
fi
cat > "$tmp/validate.cjs" << 'EOF'
const at = process.argv[2] + '/node_modules/';
const found = require(at + 'js-yaml').load(require('fs').readFileSync(0, 'utf8'));
const items = found.kind === 'List' ? found.items : [found];
for (const item of items) {
    new (require(`${at}kubernetes-models/${item.apiVersion}/${item.kind}`)[item.kind])(item).validate();
    const pod = item.spec.template.spec, one = pod.containers[0];
    if (!pod.securityContext.runAsNonRoot || !one.securityContext.readOnlyRootFilesystem) throw new Error('not confined');
    if (process.argv[3]) console.log(one.command.slice(2).join(''));
}
if (!process.argv[3]) console.log('valid' + (items.length > 1 ? ` ${items.length}` : ''));
EOF
bench=$PWD/$BUILD/bench
for job in parts join; do
    kubectl kustomize apps/cluster/k8s/$job > "$tmp/$job.yaml" 2> "$tmp/log"
    same "$job: valid by the schema" "$(node "$tmp/validate.cjs" "$bench" < "$tmp/$job.yaml" 2>&1)" valid
done
same "a job that is not is found" "$(sed 's/completions: 16/completions: many/' "$tmp/parts.yaml" | node "$tmp/validate.cjs" "$bench" 2>&1 |
    grep -c 'data/spec/completions must be integer')" 1

echo '[{"name": "c", "count": 8, "size": "640x360", "fps": 25, "input": "rtsp://in/{name}", "output": "rtsp://out/{name}"}]' > "$tmp/cameras"
echo '[{"name": "m", "count": 3, "size": "640x360", "fps": 25, "streams": 4, "cpus": 2}]' > "$tmp/machines"
apps/cluster/mona-plan --cameras "$tmp/cameras" --machines "$tmp/machines" -o "$tmp/plan" --emit kubernetes > "$tmp/log"
same "cameras: valid by the schema" "$(node "$tmp/validate.cjs" "$bench" < "$tmp/plan/kubernetes/cameras.json" 2>&1)" "valid 8"
same "one that is not is found" "$(sed 's/"replicas": 1/"replicas": "one"/' "$tmp/plan/kubernetes/cameras.json" | node "$tmp/validate.cjs" "$bench" 2>&1 |
    grep -c 'data/spec/replicas must be integer')" 1

ffmpeg -v error -f lavfi -i "testsrc2=s=96x64:r=25:d=16,noise=alls=9:allf=t" -c:v libx264 -preset veryfast -g 25 -pix_fmt yuv420p "$tmp/in.mp4"
export MONA="$PWD/$mona" PATH="$PWD/apps/cluster:$PATH"
mona-slurm "$tmp/in.mp4" -o "$tmp/out" --parts 3 --cpus 1 --plan -- --preset ultrafast 2> "$tmp/log"
same "a plan" "$? $(grep -c '1 films in 3 parts' "$tmp/log")" "0 1"
PLAN=$(echo "$tmp"/out/.mona/*)
export PLAN
part=$(node "$tmp/validate.cjs" "$bench" command < "$tmp/parts.yaml")
join=$(node "$tmp/validate.cjs" "$bench" command < "$tmp/join.yaml")
for index in 2 0 0 1; do
    JOB_COMPLETION_INDEX=$index sh -c "$part" >> "$tmp/lines" 2>&1 || echo "failed: $index" >> "$tmp/lines"
done
JOB_COMPLETION_INDEX=0 sh -c "$join" >> "$tmp/lines" 2>&1
"$mona" enhance "$tmp/in.mp4" -o "$tmp/whole.mp4" --resume --threads 1:1:1 --preset ultrafast --quiet
same "what the pods run makes the film" "$? $(cmp "$tmp/out/in.mp4" "$tmp/whole.mp4" && grep -c 'in.mp4, [123]/3: ' "$tmp/lines")" "0 4"
