/** What a part of the system may break, who would notice, and what no test here can say about it. */
export interface Area {
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
    files: /api|route|http|server|openapi|mcp|hostile|sse|auth|safety|document|read-body/,
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
