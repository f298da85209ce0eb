import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** One line that is run, in this order, in one project with one server. */
interface Step {
  /** Whose output it is, by the words of the command. */
  readonly of: string
  readonly line: string
  /** What it prints is not shown: it only prepares. */
  readonly silent?: true
  /** Words for $NAMES in later lines: where they are in the JSON this line prints. */
  readonly keep?: Readonly<Record<string, string>>
  /** Goes on by itself: it is stopped after its first line. */
  readonly endless?: true
}

const both = (of: string, words = of, json = words): readonly Step[] => [
  { of, line: words },
  { of, line: `${json} --json` },
]
const one = (of: string, line = of): readonly Step[] => [{ of, line }]
const before = (of: string, line: string, keep: Readonly<Record<string, string>> = {}): Step => ({
  of,
  line,
  keep,
  silent: true,
})
/** A run of ask.yaml that waits for a person, under that name. */
const asked = (name: string): Step => before('run start', 'run start dags/ask.yaml --json', { [name]: 'run_id' })
const waits = (name: string) =>
  before('run status', `run status ${name} --json`, { [`${name}_APPROVAL`]: 'approvals.0.approval_id' })

const PROJECT: readonly Step[] = [
  ...both('init', 'init notes', 'init other'),
  ...both('new dag', 'new dag review --from basic', 'new dag summary --blocks read,check,publish'),
  ...both('new gate', 'new gate long-enough --type min_length --port text'),
  ...both('validate', 'validate dags/hello.yaml wrong.yaml'),
  ...both('test'),
  ...both('compile', 'compile dags/hello.yaml'),
  ...both('plan', 'plan dags/hello.yaml'),
  ...both('graph', 'graph dags/hello.yaml'),
  ...one('schema'),
  ...both('doctor'),
  ...one('completion', 'completion bash'),
  ...one('slack manifest', 'slack manifest --url https://sluice.example.com'),
  ...one('help', 'help run stop'),
  { of: 'start', line: 'start --port 0 --data-dir .other', endless: true },
  { of: 'start', line: 'start --port 0 --data-dir .other --json', endless: true },
]

const RUNS: readonly Step[] = [
  { of: 'run start', line: 'run start dags/hello.yaml --watch' },
  { of: 'run start', line: 'run start dags/hello.yaml --json', keep: { $RUN: 'run_id' } },
  before('run watch', 'run watch $RUN'),
  before('run start', 'run start dags/hello.yaml --input title=Minutes --watch --json', { $OTHER: 'run.run_id' }),
  ...both('run list'),
  ...both('run status', 'run status $RUN'),
  ...both('run output', 'run output $RUN outline'),
  ...both('run artifact', 'run artifact $RUN outline.md'),
  ...both('run watch', 'run watch $RUN'),
  ...both('run events', 'run events $RUN'),
  ...both('run graph', 'run graph $RUN'),
  ...both('run cost', 'run cost $RUN'),
  ...both('run diff', 'run diff $RUN $OTHER'),
  ...both('run label', 'run label $RUN team=growth'),
  ...both('run note', 'run note $RUN "The source was down."'),
  ...both('run notes', 'run notes $RUN'),
  ...both('run search', 'run search label:team=growth state:completed'),
  ...both('run verify', 'run verify $RUN'),
  ...both('run export', 'run export $RUN -o run.json'),
  ...both('run record', 'run record $RUN -o recording.json'),
  ...both('test record', 'test record $RUN -o tests/a-run.yaml', 'test record $RUN -o tests/the-run.yaml'),
  ...both('run retry', 'run retry $RUN --from outline'),
  before('run start', 'run start dags/churn.yaml --watch --json', { $MISSED: 'run.run_id' }),
  ...both('run goal', 'run goal $MISSED'),
  ...both('run pivot', 'run pivot $MISSED --input accuracy=0.95'),
  before('run start', 'run start dags/words.yaml --watch --json', { $WORDS: 'run.run_id' }),
  ...both('run log', 'run log $WORDS count'),
  ...one('eval validate'),
  ...one('eval run', 'eval run evals/titles.yaml'),
  ...one('eval import', 'eval import promptfooconfig.yaml --name translations'),
]

/** A command that decides, once for people and once for a program: each decides a run of its own. */
const decides = (of: string, line: string): readonly Step[] => [
  asked('$P'),
  waits('$P'),
  { of, line },
  asked('$P'),
  waits('$P'),
  { of, line: `${line} --json` },
]

const PEOPLE: readonly Step[] = [
  asked('$A'),
  waits('$A'),
  ...both('event send', 'event send order.paid --key 4711 --id order-4711'),
  ...both('approvals list'),
  ...both('approvals show', 'approvals show $A_APPROVAL'),
  ...decides('run approve', 'run approve $P --yes'),
  ...decides('run reject', 'run reject $P --feedback "Name the source" --yes'),
  ...decides('approvals approve', 'approvals approve $P_APPROVAL --yes'),
  ...decides('approvals reject', 'approvals reject $P_APPROVAL --feedback "Too short" --yes'),
  ...one('approvals export', 'approvals export --run $P'),
  ...['$I', '$J'].map((name) => before('run start', 'run start dags/strict.yaml --json', { [name]: 'run_id' })),
  ...['$I', '$J'].map(waits),
  { of: 'run waive', line: 'run waive $I --feedback "Checked by hand" --yes' },
  { of: 'run waive', line: 'run waive $J --feedback "Checked by hand" --yes --json' },
  ...decides('run stop', 'run stop $P --reason "Wrong input"'),
  ...both('run stop-all', 'run stop-all --hold'),
  ...both('run release'),
]

const KNOWLEDGE: readonly Step[] = [
  ...both('graph import', 'graph import entities.ndjson'),
  ...both('graph search', 'graph search Norway'),
  ...both('graph eval', 'graph eval asked.ndjson'),
  ...both('graph show', 'graph show acme.ops.geo.atlas.country.no'),
  ...both('graph neighbors', 'graph neighbors acme.ops.geo.atlas.country.no'),
  { of: 'research ask', line: 'research ask "What is the capital of Norway?"' },
  { of: 'research ask', line: 'research ask "What is the capital of Norway?" --json', keep: { $ASKED: 'run_id' } },
  ...both('research show', 'research show $ASKED'),
  ...one('research validate', 'research validate --ndjson < payloads.ndjson'),
  ...both('graph delete', 'graph delete acme.ops.geo.atlas.city.oslo'),
  ...both('goal evaluate', 'goal evaluate --contract goal.yaml --output report.md --trust 90'),
  ...both('goal validate', 'goal validate goal.yaml'),
  ...one('goal decide', 'goal decide --ndjson < decisions.ndjson'),
  ...one('goal init', 'goal init plan.md --type ml_classification'),
  ...both('gates list'),
  ...one('gates explain', 'gates explain min_length'),
  ...one('gates check', 'gates check --ndjson < checks/gates.ndjson'),
]

const CLI_STEPS: readonly Step[] = [...PROJECT, ...RUNS, ...PEOPLE, ...KNOWLEDGE]

/** Commands whose output is not shown, and why. */
export const NOT_SHOWN: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['stop', 'retry', 'erase', 'label', 'start', 'cancel', 'show', 'list'].map((word) => [
      `run bulk ${word}`,
      '[operate.md](operate.md#many-runs-at-once) shows a session with it.',
    ]),
  ),
  'run count': '[runs.md](runs.md#counts) shows one.',
  ...Object.fromEntries(
    ['list', 'save', 'rename', 'delete'].map((word) => [
      `view ${word}`,
      '[runs.md](runs.md#views) shows a session with it.',
    ]),
  ),
  'run erase': 'It takes ten seconds: [operate.md](operate.md#forgetting-a-run) says what goes and what stays.',
  'run erasure': '[operate.md](operate.md#forgetting-a-run) says what the record holds.',
  'run hold': '[operate.md](operate.md#forgetting-a-run) says what it does.',
  'subject show': '[operate.md](operate.md#by-subject) says what it finds.',
  'subject erase': '[operate.md](operate.md#by-subject) says what it does.',
  'run pause': '[operate.md](operate.md#pausing) says what stands still.',
  'run resume': '[operate.md](operate.md#pausing) says what moves on.',
  'dag pause': '[operate.md](operate.md#pausing) says what it refuses.',
  'dag resume': '[operate.md](operate.md#pausing) says what begins then.',
  dev: 'It goes on until Ctrl-C: [guide.md](guide.md) tells of a session with it.',
  console: 'It opens or serves a page: [console.md](console.md) says how.',
  'token create': '[tokens.md](tokens.md) shows it: a token is shown to nobody else.',
  'token list': '[tokens.md](tokens.md) says what each member means.',
  'token revoke': '[tokens.md](tokens.md) says when it takes effect.',
  ...Object.fromEntries(
    ['list', 'show', 'pause', 'resume', 'fire', 'try'].map((word) => [
      `triggers ${word}`,
      '[triggers.md](triggers.md) shows it with a document that has triggers.',
    ]),
  ),
  'spending list': '[limits-and-costs.md](limits-and-costs.md) shows it with caps, under Spending.',
  'spending raise': '[limits-and-costs.md](limits-and-costs.md) shows it with a cap, under Spending.',
  'stage export': '[operate.md](operate.md) says what is in the folder, under A copy of a stage.',
  'stage import': '[operate.md](operate.md) says what is taken, under A copy of a stage.',
  'webhooks list': '[webhooks.md](webhooks.md) shows it with an endpoint.',
  'webhooks test': '[webhooks.md](webhooks.md) shows it with an endpoint.',
  'webhooks dead': '[webhooks.md](webhooks.md) shows it with an endpoint.',
  'webhooks replay': '[webhooks.md](webhooks.md) shows it with an endpoint.',
  'eval show': 'It prints what `eval run` prints at its end: [eval.md](eval.md).',
  'run transcript': '[agents.md](agents.md) says what a turn and a call are.',
  deploy: 'It needs an AWS account: [deploy.md](deploy.md) shows it.',
  destroy: 'It needs an AWS account: [deploy.md](deploy.md) shows it.',
  ...Object.fromEntries(
    ['status', 'shift', 'rollback', 'prune'].map((word) => [
      `rollout ${word}`,
      'It needs a stage on AWS: [deploy.md](deploy.md#gradual-release) shows it.',
    ]),
  ),
  logs: 'It needs an AWS account: [operate.md](operate.md) says when.',
  mcp: 'It speaks the protocol of MCP clients on stdin and stdout.',
}

/** What a command printed in the project of the documents. */
export interface Printed {
  readonly step: Step
  /** As a person types it: ids in their place. */
  readonly line: string
  readonly out: string
  readonly code: number
}

interface Where {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs every step in its order. Throws when one that prepares fails: nothing after it would be true. */
export async function runSteps(where: Where): Promise<readonly Printed[]> {
  const names = new Map<string, string>()
  const printed: Printed[] = []
  for (const step of CLI_STEPS) {
    const line = filled(step.line, names)
    const { out, code } = step.endless === true ? await firstLine(line, where) : await wholeOutput(step, line, where)
    keep(step, out, names)
    if (step.silent !== true) printed.push({ step, line, out, code })
  }
  return printed
}

/** Longer names first: $A is the beginning of $A_APPROVAL. */
function filled(line: string, names: ReadonlyMap<string, string>): string {
  const known = [...names].toSorted(([a], [b]) => b.length - a.length)
  return known.reduce((text, [name, value]) => text.replaceAll(name, value), line)
}

function keep({ keep: wanted = {}, line }: Step, out: string, names: Map<string, string>): void {
  for (const [name, path] of Object.entries(wanted)) {
    const found = path
      .split('.')
      .reduce<unknown>((value, part) => (value as Record<string, unknown>)?.[part], readJson(out))
    assert.ok(typeof found === 'string', `${line} printed no ${path}: ${out}`)
    names.set(name, found)
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a step waits for may need a moment: the approval of a run that has just been started. */
async function wholeOutput(step: Step, line: string, where: Where) {
  for (let tries = 1; ; tries += 1) {
    const done = await run(line, where)
    const isThere =
      !Object.values(step.keep ?? {}).some((path) => path.startsWith('approvals')) || /"approval_id"/.test(done.out)
    if (isThere || tries >= 50) return done
  }
}

async function run(line: string, { cwd, env }: Where) {
  const child = spawn('bash', ['--norc', '-c', `sluice ${line} 2>&1`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const [code] = await once(child, 'close')
  return { out, code: Number(code) }
}

async function firstLine(line: string, { cwd, env }: Where) {
  const child = spawn('bash', ['--norc', '-c', `exec sluice ${line}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let out = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    out += text
    if (out.includes('\n')) child.kill('SIGINT')
  }
  return { out, code: 0 }
}

/** What the commands of docs/cli.md work on, besides the files of `sluice init`. */
export const CLI_FILES: Readonly<Record<string, string>> = {
  'steps/count.ts': `import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ words: z.number() }),
  run({ inputs, log }) {
    log.info(\`a text of \${inputs.text.length} characters\`)
    return { words: inputs.text.split(' ').length }
  },
})
`,
  'dags/words.yaml': `name: words
inputs: { text: { type: string, default: Four words of text } }
blocks:
  - { id: count, mode: deterministic, inputs: { text: string }, deterministic: { handler: ./steps/count.ts } }
`,
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
  'tests/hello.yaml': `dag: hello
cases:
  - name: an outline names what was decided
    expect:
      status: completed
      outputs: { outline.text: { contains: Decision } }
  - name: it ends with the word end
    expect: { outputs: { outline.text: { gates: [{ type: ends_with, value: end }] } } }
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
  'evals/titles.yaml': `data:
  items:
    - { id: plan, values: { title: Plan, head: "1. Decision" } }
    - { id: minutes, values: { title: Minutes, head: "1. Open" } }
document: ../dags/hello.yaml
variants:
  - { name: as-it-is }
  - { name: capitals, set: { outline.agent.prompt: "{{inputs.title}}" } }
expect:
  - { name: begins-right, block: outline, check: { type: contains, port: text, values: ["{{item.head}}"] } }
`,
  'promptfooconfig.yaml': `prompts: ["Translate {{text}}"]
providers: [openai:gpt-4.1-mini]
tests: [{ vars: { text: Hello }, assert: [{ type: contains, value: Bonjour }, { type: javascript, value: "true" }] }]
`,
  'report.md': '[METRIC:accuracy] 0.93\n',
  'plan.md': '# Plan\n\nPredict churn.\n',
  'decisions.ndjson':
    '{"id":1,"trust_score":90,"quality_passed":true,"goal_status":"MET","claimed_status":"SUCCESS"}\n',
  'payloads.ndjson': '{"id":1,"type":"Intent","input":{"topic":"What is the capital of Norway?"}}\n',
  'asked.ndjson': `{"question":"Which country is in Northern Europe?","relevant":["acme.ops.geo.atlas.country.no"]}
{"question":"Where does the capital of Norway lie?","relevant":[{"id":"city.oslo","grade":2},{"id":"country.no","grade":1}]}
`,
  'entities.ndjson': `{"entity_id":"acme.ops.geo.atlas.country.no","label":"Norway","type":"country","snippet":"Norway is a country in Northern Europe. Its capital is Oslo.","triples":[{"subject":"acme.ops.geo.atlas.country.no","predicate":"geo.country.capital","object":"acme.ops.geo.atlas.city.oslo","source":"atlas","timestamp":"2026-01-01T00:00:00Z"}]}
{"entity_id":"acme.ops.geo.atlas.city.oslo","label":"Oslo","type":"city","snippet":"Oslo is the capital of Norway."}
`,
}
