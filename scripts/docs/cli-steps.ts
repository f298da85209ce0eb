/** One line that is run, in this order, in one project with one server. */
export interface Step {
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
  ...both('run verify', 'run verify $RUN'),
  ...both('run export', 'run export $RUN -o run.json'),
  ...both('run record', 'run record $RUN -o recording.json'),
  ...both('run retry', 'run retry $RUN --from outline'),
  before('run start', 'run start dags/churn.yaml --watch --json', { $MISSED: 'run.run_id' }),
  ...both('run goal', 'run goal $MISSED'),
  ...both('run pivot', 'run pivot $MISSED --input accuracy=0.95'),
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

export const CLI_STEPS: readonly Step[] = [...PROJECT, ...RUNS, ...PEOPLE, ...KNOWLEDGE]

/** Commands whose output is not shown, and why. */
export const NOT_SHOWN: Readonly<Record<string, string>> = {
  console: 'It opens or serves a page: [console.md](console.md) says how.',
  'token create': '[tokens.md](tokens.md) shows it: a token is shown to nobody else.',
  'token list': '[tokens.md](tokens.md) says what each member means.',
  'token revoke': '[tokens.md](tokens.md) says when it takes effect.',
  'webhooks list': '[webhooks.md](webhooks.md) shows it with an endpoint.',
  'webhooks test': '[webhooks.md](webhooks.md) shows it with an endpoint.',
  'webhooks dead': '[webhooks.md](webhooks.md) shows it with an endpoint.',
  'webhooks replay': '[webhooks.md](webhooks.md) shows it with an endpoint.',
  deploy: 'It needs an AWS account: [deploy.md](deploy.md) shows it.',
  destroy: 'It needs an AWS account: [deploy.md](deploy.md) shows it.',
  logs: 'It needs an AWS account: [operate.md](operate.md) says when.',
  mcp: 'It speaks the protocol of MCP clients on stdin and stdout.',
}
