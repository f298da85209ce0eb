import { blockBytes, blockText } from './block-text.ts'
import { boundBytes } from './bound-bytes.ts'
import type { Emission, Onward } from './emit-block.ts'
import { emitExit } from './emit-exit.ts'
import { emitPart } from './emit-part.ts'
import { ENDING } from './ending-states.ts'
import { EPOCH, epochIn } from './epoch.ts'
import { awaitUntimed } from './function-task.ts'
import { exitOf, type NamedSequence, type NamedStep, type Signals } from './name-steps.ts'
import { statesText, type Template, templateOf } from './state-text.ts'

/** A year: the run's own deadline lives in the store. */
const MACHINE_TIMEOUT_SEC = 31_536_000

/** Text of the whole machine: the DAG's steps, then `_settle` gives the run its verdict and `_end` the execution its status. */
export function emitMachine({ entry, steps }: NamedSequence, signals: Signals): string {
  const states = stepsText(steps, { signals, epoch: false }, { Next: '_settle' })
  return machineText(entry, states === '' ? ENDING_TEXT : `${states},${ENDING_TEXT}`)
}

/** Text of a piece of a DAG that is too large for one machine: its steps and nothing else. */
export function emitPiece({ entry, steps }: NamedSequence, signals: Signals): string {
  return machineText(entry, stepsText(steps, { signals, epoch: false }, { End: true }))
}

function machineText(entry: string, states: string): string {
  return `{"QueryLanguage":"JSONata","StartAt":"${entry}","TimeoutSeconds":${MACHINE_TIMEOUT_SEC},"States":{${states}}}`
}

const ENDING_TEXT = statesText(ENDING)

function stepsText(steps: readonly NamedStep[], emission: Emission, onward: Onward): string {
  let text = ''
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]
    const next = steps[i + 1]
    if (step === undefined) continue
    if (i > 0) text += ','
    text += stepText(step, emission, next === undefined ? onward : { Next: next.entry })
  }
  return text
}

/** Bytes of the text of one step, once bound. */
export function stepBytes(step: NamedStep, emission: Emission, onward: Onward): number {
  if (step.kind === 'block') return blockBytes(step.block, emission, onward)
  if (step.kind === 'wait') return waitTemplate(emission.epoch, onward).bytes(waitLengths(step, onward))
  return boundBytes(stepText(step, emission, onward))
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
      return parallelText(step, emission, onward)
    case 'module': {
      const { module, body, entry } = step
      const inside = stepsText(body.steps, { signals, epoch: true }, { Next: exitOf(module) })
      const exit = statesText(emitExit(module.key, entry, signals.get(exitOf(module)) ?? [], onward))
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
  const rest = emission.epoch ? JSON.stringify(epochIn(true)) : '{}'
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
    const task = awaitUntimed('wait-join', { join: '@join@', need: '#need#', ...epochIn(epoch) })
    const Output = epoch ? { Output: { e: EPOCH } } : {}
    return templateOf({ '@entry@': { ...task, ...Output, ...onward } }, ['entry', 'join', 'need', 'next'])
  }
  return { once: made(false), again: made(true) }
}
