/** What the commands of docs/cli.md work on, besides the files of `sluice init`. */
export const CLI_FILES: Readonly<Record<string, string>> = {
  'dags/ask.yaml': `name: ask
inputs: { body: { type: string, default: Version 2.4 reads four files ahead. } }
blocks:
  - id: publish
    mode: deterministic
    inputs: { body: string }
    outputs: { note: artifact }
    deterministic: { handler: write-artifact, config: { name: note.md } }
    approval: { prompt: "Publish this note?", show: [body] }
`,
  'dags/strict.yaml': `name: strict
inputs: { text: { type: string, default: A short note. } }
blocks:
  - id: note
    inputs: { text: string }
    outputs: { note: string }
    agent: { provider: local, model: outline, prompt: "{{inputs.text}}" }
    post_gates:
      - { name: names-its-source, check: { type: matches, port: note, pattern: "https://" }, error: A note names its source, on_fail: ask }
`,
  'dags/churn.yaml': `name: churn
inputs: { accuracy: { type: number, default: 0.8 } }
goal_contract:
  goal_text: Nine of ten are right
  max_goal_attempts: 2
  acceptance_criteria:
    - { id: AC1, kind: metric_threshold, metric: accuracy, op: ">=", target: 0.9 }
completion:
  trust: { from: verify.score }
blocks:
  - id: train
    mode: deterministic
    inputs: { accuracy: number }
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: "'[METRIC:accuracy] ' & $string(inputs.accuracy)" } }
  - id: verify
    mode: deterministic
    inputs: { text: { from: train.text } }
    outputs: { score: number }
    deterministic: { handler: transform, config: { expression: "90" } }
`,
  'wrong.yaml': `name: wrong
blocks:
  - id: draft
    outputs: { text: string }
    agent: { provider: local, model: outline, prompt: "Say it." }
    post_gates:
      - { name: long, check: { type: min_length, port: txt, min: 10 } }
`,
  'goal.yaml': `goal_contract:
  goal_text: Nine of ten are right
  acceptance_criteria:
    - { id: AC1, kind: metric_threshold, metric: accuracy, op: ">=", target: 0.9 }
`,
  'report.md': '[METRIC:accuracy] 0.93\n',
  'plan.md': '# Plan\n\nPredict churn.\n',
  'decisions.ndjson':
    '{"id":1,"trust_score":90,"quality_passed":true,"goal_status":"MET","claimed_status":"SUCCESS"}\n',
  'payloads.ndjson': '{"id":1,"type":"Intent","input":{"topic":"What is the capital of Norway?"}}\n',
  'entities.ndjson': `{"entity_id":"acme.ops.geo.atlas.country.no","label":"Norway","type":"country","snippet":"Norway is a country in Northern Europe. Its capital is Oslo.","triples":[{"subject":"acme.ops.geo.atlas.country.no","predicate":"geo.country.capital","object":"acme.ops.geo.atlas.city.oslo","source":"atlas","timestamp":"2026-01-01T00:00:00Z"}]}
{"entity_id":"acme.ops.geo.atlas.city.oslo","label":"Oslo","type":"city","snippet":"Oslo is the capital of Norway."}
`,
}
