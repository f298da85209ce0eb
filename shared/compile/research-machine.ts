import type { Dag } from '../dag/dag.ts'
import { STAGES, type Stage } from '../research/stages.ts'
import { sha256 } from '../text/hash.ts'
import type { Catcher } from './asl.ts'
import { callFunction, ENDING, type States } from './emit-block.ts'

/** A year, as every machine of ours: the run's own deadline lives in the store. */
const MACHINE_TIMEOUT_SEC = 31_536_000
/** The function's own time-out is 900 s: it is seen as such, this one is for a call that never comes back. */
const STAGE_TIMEOUT_SEC = 930

const ANSWER = 'synthesize_answer'
/** Where even the answer failed: the same function, without a model. */
const PLAIN = '_answer_degraded'

/**
 * The machine of the research chain: one state a stage, each a function of its name, which says in `next` where to go on
 * (shared/research/stages.ts bounds every loop). A stage that fails for good ends in an answer that says so.
 * `hash` is that of the text.
 */
export function researchMachine(): { readonly text: string; readonly hash: string } {
  made ??= makeMachine()
  return made
}

let made: { readonly text: string; readonly hash: string } | undefined

function makeMachine() {
  const stages = STAGES.map((stage) => [stage, stageState(stage)] as const)
  const machine = {
    QueryLanguage: 'JSONata',
    StartAt: STAGES[0],
    TimeoutSeconds: MACHINE_TIMEOUT_SEC,
    States: { ...Object.fromEntries(stages), [PLAIN]: plainState(), _next: nextState(), ...ENDING },
  }
  const text = JSON.stringify(machine)
  return { text, hash: sha256(text) }
}

function stageState(stage: Stage): States[string] {
  const payload = stage === ANSWER ? { ...PLACE, failed: FAILED } : stage === STAGES[0] ? FIRST_PLACE : PLACE
  return {
    ...callFunction(stage.replaceAll('_', '-'), payload),
    TimeoutSeconds: STAGE_TIMEOUT_SEC,
    Catch: [failsOver(stage, stage === ANSWER ? PLAIN : ANSWER)],
    Output: '{% $states.result.Payload %}',
    Next: '_next',
  }
}

/** Its step in the chain and the state of the chain before it; the first of all has neither yet. */
const PLACE = { step: '{% $states.input.step %}', ref: '{% $states.input.ref %}' }
const FIRST_PLACE = {
  step: '{% $exists($states.input.step) ? $states.input.step : 0 %}',
  ref: "{% $exists($states.input.ref) ? $states.input.ref : '' %}",
}
const FAILED = '{% $exists($states.input.failed) ? $states.input.failed : null %}'

/** The place of the stage that failed: whoever comes after it takes the next step, from the state before it. */
function failsOver(stage: Stage, Next: string): Catcher {
  const { step, ref } = FIRST_PLACE
  const next = step.replace('{% ', '{% (').replace(' %}', ') + 1 %}')
  const failed = { stage, error: '{% $states.errorOutput.Error %}' }
  return { ErrorEquals: ['States.ALL'], Next, Output: { step: stage === ANSWER ? PLACE.step : next, ref, failed } }
}

/** The same step as the answer that failed, so that of the two only one is recorded. */
function plainState(): States[string] {
  return {
    ...callFunction('synthesize-answer', { ...PLACE, failed: FAILED, plain: true }),
    TimeoutSeconds: STAGE_TIMEOUT_SEC,
    Catch: [{ ErrorEquals: ['States.ALL'], Next: '_settle' }],
    Next: '_settle',
  }
}

function nextState(): States[string] {
  const Choices = STAGES.map((stage) => ({ Condition: `{% $states.input.next = '${stage}' %}`, Next: stage }))
  return { Type: 'Choice', Choices, Default: '_settle' }
}

/**
 * The document a research run is pinned to: it has no blocks, since the chain is a machine of its own. With it every
 * reader of a run (status, list, graph, verify) reads a research run too.
 */
export const RESEARCH_DAG: Dag = { name: 'research', inputs: {}, blocks: [] }
