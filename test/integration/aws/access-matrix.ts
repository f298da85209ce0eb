import { policyName } from '../../../infra/aws/grants.ts'
import type { Access } from './accesses.ts'
import type { AskedRight } from './used-rights.ts'

type Asked = ReadonlyMap<string, readonly AskedRight[]>

/** docs/access-matrix.md: function -> actions -> resources -> the calls of ports that need them; then where those are. */
export function accessMatrix(accesses: readonly Access[], asked: Asked): string {
  const rows = accesses.flatMap((access) =>
    access.resources.map((resource) => [
      access.who,
      access.policy,
      access.actions.join(', '),
      `\`${resource}\`${limitOf(access)}`,
      usesOf(access, asked),
    ]),
  )
  const head = ['role of', 'for', 'actions', 'on', 'used by']
  return [
    `# Who may do what on AWS`,
    '',
    INTRO,
    '',
    ...table([head, ...rows]),
    '',
    PLACES,
    '',
    ...placesOf(asked),
    '',
  ].join('\n')
}

const INTRO = `Generated from the synthesized templates (stage \`dev\`, with bearer tokens, a workspace of Slack, a webhook, a service with a key, a collector of spans, anchors, a cap of spending and a step) and from the code by \`npx vitest run test/integration/aws/access.test.ts -u\`; the test fails when it differs, when a role allows an action that nothing its code calls sends, and when it lacks one.
ARNs are without partition, region and account. Every role has inline policies only, and nothing adds to it later. \`of\`: only items whose partition is one of these (condition \`dynamodb:LeadingKeys\`). The last column names methods: of the port that stands before the point in \`for\`, or of the one that is said; [where they are called and sent](#where-calls-are-made) stands below.
Not in the table, since each function has just these: \`logs:CreateLogStream, logs:PutLogEvents\` on its own log group, \`xray:PutTraceSegments, xray:PutTelemetryRecords\` on \`*\` (X-Ray has no resource level).`

const PLACES = `## Where calls are made

Method of a port: what it sends to AWS, the file below functions/aws that writes it (and the function that makes the SDK's command); then the files whose code, as it is in bundles, calls it: below functions/ where nothing else is said, each named after the function it exports.`

/** Partitions in words; anything else as the policy has it. */
function limitOf({ condition }: Access): string {
  if (condition === '') return ''
  const [, keys] = /^\{"ForAllValues:String(?:Equals|Like)":\{"dynamodb:LeadingKeys":(.*)\}\}$/.exec(condition) ?? []
  if (keys === undefined) return ` if \`${condition}\``
  const partitions = [JSON.parse(keys)].flat()
  return ` of ${partitions.map((partition) => `\`${partition}\``).join(', ')}`
}

/** The service or the port, where no call of a port is behind it. */
const USED_BY: Readonly<Record<string, string>> = {
  'dead-letters': 'Lambda, of an event that failed',
  'telemetry.secrets': 'what tells of spans',
  'webhooks.nudge': 'runs.append',
  logs: 'API Gateway',
}

/** The role of a step: what follows its work (functions/steps/follow-step.ts), and what the settings grant its code. */
const OF_STEPS: Readonly<Record<string, string>> = {
  objects: 'follow-step',
  report: 'follow-step, of report-step',
  grants: 'the code of the step, by the settings',
}

function usesOf({ who, policy, actions }: Access, asked: Asked): string {
  const calls = (asked.get(who) ?? []).filter(
    (call) =>
      call.rights.some((right) => policyName(right) === policy) &&
      (call.rights.length > 1 || call.actions.length === 0 || call.actions.some((action) => actions.includes(action))),
  )
  const own = who.startsWith('step-') ? OF_STEPS[policy] : undefined
  const known = own ?? USED_BY[policy] ?? (who.startsWith('(') ? 'Step Functions' : '')
  const port = policy.replace(/\..*$/, '')
  const names = calls.map((call) => (call.port === port ? call.method : `${call.port}.${call.method}`))
  return names.length === 0 ? known : names.sort().join(', ')
}

function placesOf(asked: Asked): readonly string[] {
  const all = [...asked.values()].flat().filter(({ actions, written }) => actions.length > 0 || sent(written) !== '')
  const byName = Map.groupBy(all, ({ port, method }) => `${port}.${method}`)
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, calls]) => {
      const files = [...new Set(calls.flatMap((call) => call.files))].sort().map(short)
      const [{ actions = [], written = [] } = {}] = calls
      const from = [...new Set(written.filter(({ calls }) => calls.length > 0).map(({ file }) => short(file)))].join(
        ', ',
      )
      return `- \`${name}\`: ${actions.join(', ')} from ${from} (${sent(written)}). Called in ${files.join(', ')}.`
    })
}

function sent(written: AskedRight['written']): string {
  const places = written.flatMap(({ calls }) => calls.map(({ file, by }) => `${short(file)} ${by}`))
  return [...new Set(places)].sort().join(', ')
}

function short(file: string): string {
  return file.replace(/^functions\/(aws\/)?/, '').replace(/\.ts$/, '')
}

/** A Markdown table as the formatter writes it: columns as wide as their widest cell. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = rows
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)]
}
