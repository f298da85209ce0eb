import type { TaskCall } from './read-task.ts'
import type { Frame, JoinTally, Walk } from './walk.ts'

/** What ends with a Task: its slot of max_parallel is free, and the joins it names know that it is done. */
export function signal(walk: Walk, frame: Frame, call: TaskCall): void {
  if (frame.holdsSlot) releaseSlot(walk, frame)
  // A module that is run again tells nobody outside yet.
  if (call.joins === undefined || (call.module !== undefined && frame.yes)) return
  for (const join of call.joins) {
    const tally = joinOf(walk, frame, call, join)
    for (const source of sourcesOf(walk, frame, call)) tally.done.add(source)
    wakeIfDone(walk, tally)
  }
}

function sourcesOf({ outcomes }: Walk, { at }: Frame, { block, module }: TaskCall): readonly string[] {
  if (module !== undefined && outcomes.sinks !== undefined) return outcomes.sinks(module)
  return [block ?? at]
}

function releaseSlot(walk: Walk, frame: Frame): void {
  const { agenda, waitingForSlot } = walk
  frame.holdsSlot = false
  const next = waitingForSlot.shift()
  if (next === undefined) walk.running -= 1
  else {
    next.frame.holdsSlot = true
    agenda.put(agenda.now() + next.seconds, next.frame)
  }
}

/** Joins inside a bounce module are kept per epoch. */
export function joinOf(walk: Walk, frame: Frame, call: TaskCall, join: string): JoinTally {
  const key = call.isInModule && call.module === undefined ? `${join}~${frame.epoch}` : join
  const known = walk.joins.get(key)
  if (known !== undefined) return known
  const tally: JoinTally = { done: new Set() }
  walk.joins.set(key, tally)
  return tally
}

export function wakeIfDone(walk: Walk, tally: JoinTally): void {
  const { waiter, done } = tally
  if (waiter === undefined || done.size < waiter.need) return
  delete tally.waiter
  walk.agenda.put(walk.agenda.now(), waiter.frame)
}
