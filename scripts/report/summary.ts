import type { TestFile } from './results.ts'

interface Counts {
  readonly files: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Found, not run for this report. */
  readonly listed: number
  /** Sum over files; they run side by side. */
  readonly seconds: number
}

interface AreaLine {
  readonly area: string
  readonly risk: string
  readonly gap: string
  /** Tests there are by kind, run or listed. */
  readonly tests: Readonly<Record<string, number>>
  /** Kinds without any test. */
  readonly missing: readonly string[]
}

/** reports/test-summary.json. */
interface Summary {
  readonly at: string
  readonly note: string
  readonly totals: Counts
  readonly kinds: Readonly<Record<string, Counts>>
  readonly matrix: readonly AreaLine[]
  readonly failed_files: readonly string[]
  readonly slowest: readonly { readonly file: string; readonly seconds: number }[]
  readonly coverage: Readonly<Record<string, number>>
}

/** When it was, and which kinds were run. */
interface Circumstances {
  readonly at: string
  readonly ran: readonly string[]
}

/** Counts by kind, the matrix of areas and kinds, and what stands out. `coverage`: percent by measure. */
export function summarize(
  files: readonly TestFile[],
  coverage: Summary['coverage'],
  { at, ran }: Circumstances,
): Summary {
  const kinds = KINDS.map((kind) => [kind, counted(files.filter((one) => one.kind === kind))] as const)
  return {
    at,
    note: noteOf(ran),
    totals: counted(files),
    kinds: Object.fromEntries(kinds),
    matrix: AREAS.map(({ name, risk, gap }) => areaLine(name, risk, gap, files)),
    failed_files: files.filter(({ failed }) => failed > 0).map(({ file }) => file),
    slowest: files
      .toSorted((left, right) => right.seconds - left.seconds)
      .slice(0, MOST_SLOW)
      .map(({ file, seconds }) => ({ file, seconds })),
    coverage,
  }
}

const MOST_SLOW = 10

/** What a reader must know before believing a figure. */
function noteOf(ran: readonly string[]): string {
  const others = KINDS.filter((kind) => !ran.includes(kind))
  return `Run for this report: ${ran.join(', ')}. Only listed: ${others.join(', ')}. The machine was shared with other work: durations say which files are slow, not how slow. Coverage counts what these tests run in their own process; places, commands and functions that are spawned count nothing, so its figures are too low.`
}

function counted(files: readonly TestFile[]): Counts {
  const sum = (read: (file: TestFile) => number) => files.reduce((total, file) => total + read(file), 0)
  return {
    files: files.length,
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    listed: sum(({ listed }) => listed),
    seconds: Math.round(sum(({ seconds }) => seconds)),
  }
}

function areaLine(area: string, risk: string, gap: string, files: readonly TestFile[]): AreaLine {
  const own = files.filter(({ file }) => areaOf(file) === area)
  const tests = KINDS.map((kind) => {
    const { passed, failed, skipped, listed } = counted(own.filter((one) => one.kind === kind))
    return [kind, passed + failed + skipped + listed] as const
  })
  const missing = tests.filter(([, count]) => count === 0).map(([kind]) => kind)
  return { area, risk, gap, tests: Object.fromEntries(tests), missing }
}

/** reports/test-summary.md: the same for people who decide whether to trust it. */
export function reportPage(summary: Summary): string {
  const { at, note, totals, kinds, matrix, failed_files, slowest, coverage } = summary
  const kindRows = KINDS.map((kind) => {
    const { files, passed, failed, skipped, listed, seconds } = kinds[kind] ?? totals
    return [kind, files, passed, failed, skipped, listed, seconds]
  })
  const areaRows = matrix.map(({ area, tests, risk }) => [area, ...KINDS.map((kind) => tests[kind] ?? 0), risk])
  const gaps = matrix.flatMap(({ area, gap, missing }) => [
    ...(gap === '' ? [] : [`- ${area}: ${gap}.`]),
    ...(missing.length === 0 ? [] : [`- ${area}: no tests of kind ${missing.join(', ')}.`]),
  ])
  const parts = [
    '# Tests: what was run, and what nobody tested',
    `Written by \`npm run test:report\` on ${at.slice(0, 10)}. ${note}`,
    `**${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped**, ${totals.listed} more were found and not run here: \`npm test\`, \`npm run test:faults\` and \`npm run test:aws\` run them.`,
    ...(failed_files.length === 0 ? [] : [`Failed: ${failed_files.map((file) => `\`${file}\``).join(', ')}.`]),
    `## By kind\n\n${table(['kind', 'files', 'passed', 'failed', 'skipped', 'not run', 'seconds'], kindRows)}`,
    `## By area\n\nTests there are, by area and kind. A file counts once, where its name fits first. The campaign of \`npm run test:faults\` attacks store, machine, approvals, goals and research at once, thousands of seeds in one program: it is no test file, and no number here.\n\n${table(['area', ...KINDS, 'what is at stake'], areaRows)}`,
    `## Gaps\n\n${gaps.join('\n')}`,
    `## Coverage\n\n${table(
      ['measure', 'percent'],
      Object.entries(coverage).map(([name, percent]) => [name, percent.toFixed(1)]),
    )}\n\n[coverage-summary.json](coverage/coverage-summary.json) has it by folder. \`shared\`, \`functions\`, \`infra/local\` and \`clients/cli\` are counted.`,
    `## Slowest files\n\n${table(
      ['file', 'seconds'],
      slowest.map(({ file, seconds }) => [file, seconds]),
    )}`,
  ]
  return `${parts.join('\n\n')}\n`
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** What a part of the system may break, who would notice, and what no test here can say about it. */
interface Area {
  readonly name: string
  /** Test files of the area; the first area that fits has the file. */
  readonly files: RegExp
  /** What is at stake if it is wrong. */
  readonly risk: string
  /** What stays untested, in words; '' = nothing that is known. */
  readonly gap: string
}

/** Kinds of tests: folders of test/, in the order in which they come closer to the real thing. */
export const KINDS = ['unit', 'conformance', 'integration', 'e2e', 'faults', 'aws'] as const

export const AREAS: readonly Area[] = [
  {
    name: 'console',
    files: /console|browser/,
    risk: 'people decide on what they are shown',
    gap: 'one browser only, Chromium; screen readers are not heard, only the rules of axe are checked',
  },
  {
    name: 'research',
    files: /research|graph|search|porter|atlas|country-brief|embed/,
    risk: 'an answer that no source says',
    gap: 'no language model answers in tests: the extractive model and recorded answers do',
  },
  {
    name: 'approvals',
    files: /approv|ask|question|slack|inbox|people|notif|webhook/,
    risk: 'something happens that nobody agreed to',
    gap: 'Slack itself is an emulator',
  },
  {
    name: 'goals',
    files: /goal|pivot|churn|claim/,
    risk: 'a run is called a success and is none',
    gap: 'claims of language models are recorded ones',
  },
  {
    name: 'gates',
    files: /gate|isolate|judge|redact/,
    risk: 'a bad output is let through',
    gap: 'shell gates run as the user of the place; no sandbox is tested because there is none',
  },
  {
    name: 'store',
    files: /store|journal|verify|invariant|deletion|retention|fold|event|projection|simul|differential|item-/,
    risk: 'what happened is lost or told wrongly',
    gap: 'power cuts are not tried, only kill -9',
  },
  {
    name: 'CLI',
    files: /cli|doctor|demo|package|terminal|completion/,
    risk: 'people cannot see or stop their runs',
    gap: 'macOS and Windows are not tried',
  },
  {
    name: 'API',
    files: /api|route|http|server|openapi|mcp|hostile|sse|auth|safety|document(?!\/)|read-body/,
    risk: 'somebody gets what is not theirs, or the place falls over',
    gap: 'no load from many machines; one machine sends 1,000 runs at once',
  },
  {
    name: 'AWS',
    files: /aws\/|infra|bundle|iam|lambda|stack/,
    risk: 'what worked here does not work there',
    gap: 'emulators only: IAM, CloudFormation and real latencies are AWS’s own (docs/differences.md)',
  },
  {
    name: 'machine',
    files:
      /compil|machine|asl|part|resume|bounce|foreach|child|retry|block|run|loop|race|kill|load|stall|budget|cache|cost|provider|task|agent|crash|stop|linked|random|reliab/,
    risk: 'blocks run twice, never, or in the wrong order',
    gap: 'Step Functions is our interpreter behind the wire protocol',
  },
  {
    name: 'language and docs',
    files: /./,
    risk: 'a document means something else than its author thinks',
    gap: 'whether a page is understood, no test can say',
  },
]

/** The area of a test file. */
export function areaOf(file: string): string {
  const path = file.replace(/^test\/[a-z0-9]+\//, (folder) => (folder === 'test/aws/' ? folder : ''))
  return (AREAS.find(({ files }) => files.test(path)) ?? AREAS[AREAS.length - 1])?.name ?? ''
}
