import { opensChild } from '../dag/dag.ts'
import { isNativeHandler } from '../dag/native-call.ts'
import type { Retrier } from './asl.ts'
import {
  actingOf,
  type CompiledBlock,
  callFunction,
  type Emission,
  ENDING,
  EPOCH,
  emitBlock,
  emitHold,
  epochField,
  isStep,
  type Onward,
  type States,
  waitWithoutTimeout,
} from './emit-block.ts'
import { exitStateOf, type NamedSequence, type NamedStep, type Signals } from './name-steps.ts'

/** Length of a function's or machine's ARN in bound text; those of long stage names are a little longer. */
const ARN_BYTES = 100

/** Bytes of machine text once its placeholders are bound. It is ASCII: nothing a user wrote but ids is in it. */
function boundBytes(text: string): number {
  return text.length + (text.match(/\$\{\w+\}/g) ?? []).reduce((sum, { length }) => sum + ARN_BYTES - length, 0)
}

/** A placeholder stands in a state of 300 bytes and more: machine text grows by less than a third. */
const GROWTH = 4 / 3

/** Whether the bound text has room; the placeholders are counted only where it is close. */
export function fitsOnceBound(text: string, bytes: number): boolean {
  return text.length * GROWTH <= bytes || boundBytes(text) <= bytes
}

/** States as the members of a JSON object, without its braces: machine text is made of these. */
function statesText(states: States): string {
  return JSON.stringify(states).slice(1, -1)
}

/** Text of states with holes in it, filled in the order of the template's names. */
interface Template {
  readonly fill: (values: readonly string[]) => string
  /** Bytes of the filled text once its placeholders are bound, by the lengths of the values. */
  readonly bytes: (lengths: readonly number[]) => number
}

/**
 * The states with each `@name@` in their texts a hole, as is `"#name#"` with its quotes (a number). Most of a state never
 * changes: it is written once. Names and ids hold neither `@` nor `#`, nor anything JSON would escape.
 */
function templateOf(states: States, names: readonly string[]): Template {
  // split() gives text, first group, second group, text, ..
  const parts = statesText(states).split(/"#(\w+)#"|@(\w+)@/)
  const first = parts[0] ?? ''
  const rest: { readonly hole: number; readonly text: string }[] = []
  for (let at = 1; at < parts.length; at += 3) {
    rest.push({ hole: names.indexOf(parts[at] ?? parts[at + 1] ?? ''), text: parts[at + 2] ?? '' })
  }
  const fixed = boundBytes(first) + rest.reduce((sum, { text }) => sum + boundBytes(text), 0)
  const uses = names.map((_, i) => rest.filter(({ hole }) => hole === i).length)
  return {
    fill: (values) => {
      let text = first
      for (const { hole, text: next } of rest) text += (values[hole] ?? '') + next
      return text
    },
    bytes: (lengths) => {
      let bytes = fixed
      for (let hole = 0; hole < uses.length; hole++) bytes += (uses[hole] ?? 0) * (lengths[hole] ?? 0)
      return bytes
    },
  }
}

/** A year: the run's own deadline lives in the store. */
const MACHINE_TIMEOUT_SEC = 31_536_000

/** Text of the whole machine: the DAG's steps, then `_settle` gives the run its verdict and `_end` the execution its status. */
export function emitMachine({ entry, steps }: NamedSequence, signals: Signals): string {
  const states = stepsText(steps, { signals, epoch: false }, { Next: '_settle' })
  return machineText(entry, states === '' ? ENDING_TEXT : `${states},${ENDING_TEXT}`)
}

/** Text of a piece of a DAG that is too large for one machine: its steps and nothing else. */
export function emitPartMachine({ entry, steps }: NamedSequence, signals: Signals): string {
  return machineText(entry, stepsText(steps, { signals, epoch: false }, { End: true }))
}

function machineText(entry: string, states: string): string {
  return `{"QueryLanguage":"JSONata","StartAt":"${entry}","TimeoutSeconds":${MACHINE_TIMEOUT_SEC},"States":{${states}}}`
}

const ENDING_TEXT = statesText(ENDING)

/** All states of a branch; its blocks share the one they wait in while their run is paused. */
function stepsText(steps: readonly NamedStep[], emission: Emission, onward: Onward): string {
  const held = emission.epoch ? [] : heldTogether(steps)
  const [hold] = held
  const sharing = hold === undefined ? emission : { ...emission, hold }
  let text = ''
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]
    const next = steps[i + 1]
    if (step === undefined) continue
    if (i > 0) text += ','
    text += stepText(step, sharing, next === undefined ? onward : { Next: next.entry })
  }
  return hold === undefined ? text : `${text},${statesText(emitHold(hold, held))}`
}

/** Blocks of a branch that wait in one state; a block alone has its own, and so has one that is run again by a bounce. */
function heldTogether(steps: readonly NamedStep[]): readonly string[] {
  const held = plainIds(steps)
  return held.length > 1 ? held : []
}

function plainIds(steps: readonly NamedStep[]): readonly string[] {
  return steps.flatMap((step) => (step.kind === 'block' && isPlain(step.block) ? [step.block.id] : []))
}

/** Bytes of the text of one step, once bound; what the blocks of a branch share is not in it (`holdBytes`). */
export function stepBytes(step: NamedStep, emission: Emission, onward: Onward): number {
  if (step.kind === 'block') return blockBytes(step.block, emission, onward)
  if (step.kind === 'wait') return waitTemplate(emission.epoch, onward).bytes(waitLengths(step, onward))
  return boundBytes(stepText(step, emission, onward))
}

/** Bytes of what the blocks of one branch wait in while their run is paused. */
export function holdBytes(steps: readonly NamedStep[]): number {
  return steps.some((step) => step.kind === 'block' && isPlain(step.block)) ? HOLD_BYTES : 0
}

/** The states of one step, as members of a JSON object. */
function stepText(step: NamedStep, emission: Emission, onward: Onward): string {
  const { signals, epoch } = emission
  switch (step.kind) {
    case 'block':
      return blockText(step.block, emission, onward)
    case 'wait':
      return waitTemplate(epoch, onward).fill(waitValues(step, onward))
    case 'par':
      return parallelText(step, { signals, epoch }, onward)
    case 'module': {
      const { module, body, entry } = step
      const inside = stepsText(body.steps, { signals, epoch: true }, { Next: exitStateOf(module) })
      const exit = statesText(emitExit(module.key, entry, signals.get(exitStateOf(module)) ?? [], onward))
      return inside === '' ? exit : `${inside},${exit}`
    }
    case 'part':
      return statesText(emitPart(step.part, onward))
  }
}

/** Added up, not joined: joining would copy the text once a level. */
function parallelText(
  { entry, branches }: Extract<NamedStep, { kind: 'par' }>,
  emission: Emission,
  onward: Onward,
): string {
  let text = `"${entry}":{"Type":"Parallel","Branches":[`
  let comma = ''
  for (const branch of branches) {
    text += `${comma}{"StartAt":"${branch.entry}","States":{`
    text += stepsText(branch.steps, emission, LAST)
    text += '}}'
    comma = ','
  }
  // Next to nothing as output: what branches answer never adds up to a payload limit.
  const rest = emission.epoch ? JSON.stringify(epochField(true)) : '{}'
  return `${text}],"Output":${rest},${'Next' in onward ? `"Next":"${onward.Next}"` : '"End":true'}}`
}

const LAST: Onward = { End: true }

/** Every join is the same but for its names and how many it waits for. */
function waitTemplate(epoch: boolean, onward: Onward): Template {
  const { again, once } = 'Next' in onward ? WAITS : LAST_WAITS
  return epoch ? again : once
}

function waitValues({ entry, join }: Extract<NamedStep, { kind: 'wait' }>, onward: Onward): readonly string[] {
  return [entry, join.id, String(join.sources.length), 'Next' in onward ? onward.Next : '']
}

function waitLengths({ entry, join }: Extract<NamedStep, { kind: 'wait' }>, onward: Onward): readonly number[] {
  const need = String(join.sources.length).length
  return [entry.length, join.id.length, need, 'Next' in onward ? onward.Next.length : 0]
}

const WAITS = waitTemplates({ Next: '@next@' })
const LAST_WAITS = waitTemplates({ End: true })

function waitTemplates(onward: Onward): { readonly once: Template; readonly again: Template } {
  const made = (epoch: boolean) => {
    const task = waitWithoutTimeout('wait-join', { join: '@join@', need: '#need#', ...epochField(epoch) })
    const Output = epoch ? { Output: { e: EPOCH } } : {}
    return templateOf({ '@entry@': { ...task, ...Output, ...onward } }, ['entry', 'join', 'need', 'next'])
  }
  return { once: made(false), again: made(true) }
}

/**
 * The exit of a bounce module: close-module decides in the store whether it runs again; then back to its first state
 * with the next epoch, else onward with an empty output, so that no epoch is seen outside. `joins` are those outside
 * that wait for the module. A Choice cannot end a branch: where nothing follows, `_left_<k>` does.
 */
function emitExit(module: number, entry: string, joins: readonly string[], onward: Onward): States {
  const left = `_left_${module}`
  return {
    [`_close_${module}`]: {
      ...callFunction('close-module', { module, e: EPOCH, ...(joins.length === 0 ? {} : { joins }) }),
      Output: "{% $states.result.Payload.again ? {'e': $states.result.Payload.e} : {} %}",
      Next: `_bounce_${module}`,
    },
    [`_bounce_${module}`]: {
      Type: 'Choice',
      Choices: [{ Condition: '{% $exists($states.input.e) %}', Next: entry }],
      Default: 'Next' in onward ? onward.Next : left,
    },
    ...('Next' in onward ? {} : { [left]: { Type: 'Succeed' } }),
  }
}

/**
 * A part of the DAG that runs as a machine of its own, for size: an execution `<run id>-<k>` with the run's own input,
 * waited for. Only what kept it from being started is tried again: starting is idempotent while it runs. Has it ended
 * meanwhile, its name is taken: then the run goes on. That is safe, since every block after it looks in the store
 * whether its upstream has ended (if the part died it has not, so the block is skipped and the run fails), and no other
 * run has that name. A part that fails fails the run: its name admits no second execution.
 */
function emitPart(part: number, onward: Onward): States {
  const left = `_left_part_${part}`
  return {
    [`_part_${part}`]: {
      Type: 'Task',
      Resource: 'arn:aws:states:::states:startExecution.sync:2',
      Arguments: {
        StateMachineArn: `\${${placeholderOfPart(part)}}`,
        Name: `{% $states.context.Execution.Input.run_id & '-${part}' %}`,
        Input: INPUT_OF_PART,
      },
      Retry: [NOT_STARTED],
      Catch: [{ ErrorEquals: ALREADY_ENDED, Next: 'Next' in onward ? onward.Next : left, Output: {} }],
      Output: {},
      ...onward,
    },
    ...('Next' in onward ? {} : { [left]: { Type: 'Succeed' } }),
  }
}

/**
 * That of the whole, and by whom it was started: Step Functions' console links the executions of the two by this name (Step
 * Functions guide, "Associate workflow executions").
 */
const INPUT_OF_PART =
  '{% $merge([$states.context.Execution.Input, {"AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID": $states.context.Execution.Id}]) %}'

export function placeholderOfPart(part: number): string {
  return `Part${part}`
}

const NOT_STARTED: Retrier = {
  ErrorEquals: [
    'StepFunctions.ExecutionLimitExceededException',
    'StepFunctions.ThrottlingException',
    'StepFunctions.ServiceException',
    'StepFunctions.SdkClientException',
  ],
  IntervalSeconds: 2,
  MaxAttempts: 20,
  MaxDelaySeconds: 60,
  JitterStrategy: 'FULL',
}
const ALREADY_ENDED = ['StepFunctions.ExecutionAlreadyExistsException', 'StepFunctions.ExecutionAlreadyExists']

/**
 * The states of one block as text. Blocks that only run differ in a few names: their states are written once a kind,
 * and the names filled in.
 */
function blockText(block: CompiledBlock, { signals, epoch, hold }: Emission, onward: Onward): string {
  if (!isPlain(block)) return statesText(emitBlock(block, { signals, epoch }, onward))
  const joins = signals.get(block.id)
  const template = plainBlock({
    epoch,
    isJoined: joins !== undefined,
    goesOn: 'Next' in onward,
    isHeld: hold !== undefined,
  })
  return template.fill([
    block.id,
    'Next' in onward ? onward.Next : '',
    joins === undefined ? '' : joined(joins),
    hold ?? '',
  ])
}

/** Bytes of the text, once bound. */
function blockBytes(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): number {
  if (!isPlain(block)) return boundBytes(statesText(emitBlock(block, { signals, epoch }, onward)))
  const joins = signals.get(block.id)
  const template = plainBlock({ epoch, isJoined: joins !== undefined, goesOn: 'Next' in onward, isHeld: !epoch })
  const next = 'Next' in onward ? onward.Next.length : 0
  const back = epoch ? 0 : BACK_BYTES + 2 * block.id.length
  return back + template.bytes([block.id.length, next, joinedLength(joins), HOLD_NAME])
}

/** Ids are this long at most. */
const HOLD_NAME = 40

function isPlain(block: CompiledBlock): boolean {
  const { approval, asks, foreach, handler, mode } = block
  const isAlone = !opensChild(mode) && mode !== 'wait' && actingOf(block) === undefined
  const isSingle = isAlone && !isStep(block) && !isNativeHandler(handler)
  return approval === undefined && asks === undefined && foreach === undefined && isSingle
}

const SEPARATOR = '","'

/** Most signal one join or none. */
function joined(joins: readonly string[]): string {
  const [only] = joins
  return joins.length === 1 && only !== undefined ? only : joins.join(SEPARATOR)
}

function joinedLength(joins: readonly string[] = []): number {
  let length = SEPARATOR.length * Math.max(0, joins.length - 1)
  for (const join of joins) length += join.length
  return length
}

interface PlainKind {
  readonly epoch: boolean
  readonly isJoined: boolean
  readonly goesOn: boolean
  /** Waits with others of its branch while the run is paused. */
  readonly isHeld: boolean
}

const plain: (Template | undefined)[] = []

function plainBlock(kind: PlainKind): Template {
  const { epoch, isJoined, goesOn, isHeld } = kind
  const n = (isHeld ? 8 : 0) + (epoch ? 4 : 0) + (isJoined ? 2 : 0) + (goesOn ? 1 : 0)
  return plain[n] ?? makePlain(n, kind)
}

function makePlain(n: number, { epoch, isJoined, goesOn, isHeld }: PlainKind): Template {
  const signals = new Map(isJoined ? [['@id@', ['@joins@']]] : [])
  const onward: Onward = goesOn ? { Next: '@next@' } : { End: true }
  const emission = { signals, epoch, ...(isHeld ? { hold: '@hold@' } : {}) }
  const states = emitBlock({ id: '@id@', upstream: [] }, emission, onward)
  const made = templateOf(states, ['id', 'next', 'joins', 'hold'])
  plain[n] = made
  return made
}

/** Of what waits for the blocks of a branch, with the longest names, and for each block the way back, without its name. */
export const HOLD_BYTES = boundBytes(statesText(emitHold('h'.repeat(HOLD_NAME), [])))
const BACK_BYTES = statesText(emitHold('', ['', ''])).length - statesText(emitHold('', [''])).length + 1
