import type { KnownSteps } from './described-step.ts'
import type { StepStart } from './step-order.ts'

/** Code of the project that blocks run (docs/steps.md). Suite: test/conformance/steps-suite.ts. */
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
}

/** A step as a run began with it. */
export interface StepCode {
  readonly name: string
  readonly hash: string
}
