import type { RunEvent } from '../../shared/runs/event.ts'

const SAFETY_CAP = 5

/** By the event that came and the state it found: the state it leads to (spec dag, "Block states"). */
const MOVES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'block:ready': { pending: 'ready' },
  'block:started': { ready: 'running', retrying: 'running' },
  'block:output': { running: 'running' },
  'block:gate': { running: 'running' },
  'block:retrying': { running: 'retrying' },
  'block:completed': { running: 'completed' },
  'block:failed': { running: 'failed', ready: 'failed', retrying: 'failed' },
  'block:skipped': { pending: 'skipped' },
  'approval:requested': { ready: 'paused', retrying: 'paused' },
  'approval:decided': { paused: 'ready' },
  'approval:expired': { paused: 'ready' },
}

/** 7, 8; an item of a fan-out begins as `ready`. */
export function moveProblems(mine: readonly RunEvent[], from: 'pending' | 'ready'): readonly string[] {
  const wrong: string[] = []
  let state: string = from
  for (const { type, seq } of mine) {
    const next = MOVES[type]?.[state]
    if (next === undefined) wrong.push(`8: ${type} (event ${seq}) in state ${state}`)
    state = next ?? state
  }
  return wrong
}

/** 10: numbered 1, 2, .. ; only a lost attempt goes beyond the block's own tries, none beyond the safety cap. */
export function attemptProblems(mine: readonly RunEvent[], tries: number): readonly string[] {
  const numbers = mine.flatMap(({ type, attempt }) => (type === 'block:started' ? [attempt] : []))
  const wrong: string[] = []
  if (numbers.some((attempt, i) => attempt !== i + 1)) wrong.push(`10: attempts are numbered ${numbers.join(' ')}`)
  if (numbers.length > SAFETY_CAP) wrong.push(`10: ${numbers.length} attempts`)
  for (const event of mine) {
    if (event.type !== 'block:retrying' || event.data.code === 'ATTEMPT_LOST') continue
    if ((event.attempt ?? 0) >= tries) wrong.push(`10: tried again after attempt ${event.attempt} of ${tries}`)
  }
  return wrong
}
