import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type {
  Expected,
  MustNot,
  ScriptedAnswer,
  ScriptedDecision,
  StepLine,
  TestCase,
} from '../../shared/cases/case-file.ts'
import { judgeCase, type Miss } from '../../shared/cases/judge-case.ts'
import { missLines } from '../../shared/cases/miss-lines.ts'
import type { PlayedCase } from '../../shared/cases/played-case.ts'
import type { Script, Seen } from '../../shared/cases/scripts.ts'
import type { Json } from '../../shared/text/json.ts'

export type { Expected, Miss, MustNot, PlayedCase, Script, ScriptedAnswer, ScriptedDecision, Seen, StepLine }

/** What a test gives a document. */
export interface PlayOptions {
  readonly inputs?: Readonly<Record<string, Json>> | undefined
  /** Keys of sluice.yaml that the test has otherwise. */
  readonly settings?: Readonly<Record<string, Json>> | undefined
  /**
   * By provider, or `provider/model`. A script is no model: it says what it is told to say, and a function of it is given
   * what a model is shown, and nothing else. A provider without one is not asked; the run fails, and says what was asked.
   */
  readonly models?: Readonly<Record<string, Script | { readonly recording: string }>> | undefined
  /** By step as the document names it, or by block. Steps without one run as they are. */
  readonly steps?: Readonly<Record<string, readonly LineOfStep[]>> | undefined
  /** Tools of MCP servers, as `server.tool`. */
  readonly tools?: TestCase['tools'] | undefined
  /** Of every question, or one by one in order. A question nobody answers waits, in virtual time, until its time is over. */
  readonly decisions?: 'approve' | 'reject' | readonly LineOfDecision[] | undefined
  readonly events?: TestCase['events'] | undefined
  readonly callbacks?: TestCase['callbacks'] | undefined
  /** The folder with sluice.yaml; default: the working folder. */
  readonly project?: string | URL | undefined
  /** From where documents and recordings are named; default: the project. */
  readonly folder?: string | URL | undefined
}

type LineOfStep = Partial<StepLine>
type LineOfDecision = Pick<ScriptedDecision, 'block' | 'decision'> & Partial<ScriptedDecision>

/** A run that came to its end in a test. */
export interface TestRun extends PlayedCase {
  /** The value of an output, `block.port`; undefined where the block published none. */
  output(name: `${string}.${string}`): Json | undefined
  /** The newest verdict of a gate, `block.gate`; undefined where it was not judged. */
  gate(name: `${string}.${string}`): 'passed' | 'failed' | 'error' | 'waived' | undefined
  /** How often a provider, step or tool was called, by its name. */
  called(name: string): number
  /** Everything that is not as wanted; nothing: all is. */
  misses(expect: Expected, must_not?: MustNot): Promise<readonly Miss[]>
  /** Throws what is not as wanted, with what was seen and line by line what differs. */
  expect(expect: Expected, must_not?: MustNot): Promise<void>
}

/**
 * Runs a document to its end in this process: its compiled machine on the interpreter of the local place, a store in memory,
 * virtual time, nothing asked outside. `dag` is a document of the project by name, a file that ends in .yaml, its text, or
 * the document as an object. A Fault of the start (invalid_dag, missing_input) is thrown; how the run ends is answered.
 * It takes Node 24 or later.
 */
export async function playDocument(dag: string | object, options: PlayOptions = {}): Promise<TestRun> {
  const { checkJudge, playCase } = await place()
  const project = folderOf(options.project ?? '.')
  const folder = options.folder === undefined ? project : folderOf(options.folder)
  const { steps = {}, inputs, callbacks } = options
  const decisions =
    typeof options.decisions === 'string'
      ? options.decisions
      : options.decisions?.map((line) => ({ every: false, ...line }))
  const played = await playCase({
    ...options,
    dag,
    project,
    folder,
    steps: Object.fromEntries(Object.entries(steps).map(([name, lines]) => [name, lines.map(wholeStep)])),
    decisions,
  })
  const misses = (expect: Expected, must_not?: MustNot) =>
    judgeCase({ inputs, callbacks, decisions, expect, must_not }, played, checkJudge(project))
  return {
    ...played,
    output: (name) => played.outputs[name],
    gate: (name) => played.gates[name]?.at(-1)?.status,
    called: (name) => played.calls.filter((call) => call.name === name).length,
    misses,
    async expect(expect, must_not) {
      const missed = await misses(expect, must_not)
      if (missed.length > 0) throw new UnexpectedRun(missed)
    },
  }
}

/** What keeps and moves runs here needs a Node that the rest of the package does without: it is loaded when it is used. */
async function place(): Promise<typeof import('../../infra/local/cases/play-case.ts')> {
  if (Number.parseInt(process.versions.node, 10) < 24) throw new NodeTooOld()
  return await import('../../infra/local/cases/play-case.ts')
}

class NodeTooOld extends Error {
  override readonly name = 'NodeTooOld'
  constructor() {
    const { node } = process.versions
    super(`Cannot play a document with Node ${node}: Node 24 or later is needed. \`npx sluice test\` gets one itself.`)
  }
}

function wholeStep(line: LineOfStep): StepLine {
  return line.outputs === undefined && line.fail === undefined ? { ...line, outputs: {} } : line
}

function folderOf(given: string | URL): string {
  return resolve(given instanceof URL ? fileURLToPath(given) : given)
}

/** Test runners show its message. */
class UnexpectedRun extends Error {
  override readonly name = 'UnexpectedRun'
  readonly misses: readonly Miss[]
  constructor(misses: readonly Miss[]) {
    super(['The run is not as it was to be:', ...misses.flatMap(missLines)].join('\n'))
    this.misses = misses
  }
}

/** An answer that asks for tools, all at once. */
export function calls(...asked: NonNullable<ScriptedAnswer['calls']>): ScriptedAnswer {
  return { calls: asked }
}
