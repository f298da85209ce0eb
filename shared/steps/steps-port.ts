import type { Json } from '../text/json.ts'
import type { KnownSteps } from './described-step.ts'
import type { StepOutcome, StepStart } from './step-order.ts'

/** Code of the project that blocks run, and what AWS does for them (docs/steps.md, docs/native-calls.md). Tests: test/integration/steps, test/aws/steps.test.ts. */
export interface Steps {
  /**
   * What this place knows of steps by the names documents give them, or in words why there is none of a name. Code that was
   * described stays what it is for the runs that began with it, whatever becomes of its files.
   */
  describe(names: readonly string[]): Promise<KnownSteps>
  /**
   * Begins the work of one attempt, and does not wait for it: report-step hears how it goes and how it ends. What could not
   * be handed over is thrown. One that is started twice works once.
   */
  start(step: StepCode, start: StepStart): Promise<void>
  /** Whether one of these texts holds a value that the settings of this place keep a secret, as far as this function may read those. */
  holdsSecret(texts: readonly string[]): Promise<boolean>
  /** What the state of the machine that runs a container is given. */
  task(task: ContainerTask): Promise<Json>
  /** What a container left behind that came to its end; undefined: nothing that can be read. */
  collect(task: Pick<ContainerTask, 'tenant' | 'name' | 'holder'>): Promise<ContainerLeft | undefined>
}

/** One attempt of a block of the handler `container`. */
export interface ContainerTask {
  readonly tenant: string
  /** As the settings name it. */
  readonly name: string
  readonly command_args: readonly string[]
  /** The same for the same attempt, and for no other. */
  readonly key: string
  /** Who claimed it: nobody guesses that. */
  readonly holder: string
  /** What it reads as input.json. */
  readonly work: Json
}

/** What it wrote, kept as objects. */
export interface ContainerLeft extends Pick<StepOutcome, 'artifacts' | 'stored_bytes'> {
  /** The text of output.json. */
  readonly output: string
}

/** A step as a run began with it. */
export interface StepCode {
  readonly name: string
  readonly hash: string
}

/** Shorter values stand everywhere, and are looked for in no text. */
const LEAST_SECRET = 8

/** Whether one of these texts holds one of these values. */
export function holdsOneOf(values: Iterable<string>, texts: readonly string[]): boolean {
  const known = [...values].map((value) => value.trim()).filter((value) => value.length >= LEAST_SECRET)
  return known.some((value) => texts.some((text) => text.includes(value)))
}
