import { invariant } from './invariant.ts'
import { nameOf, type Pass, passesOf } from './passes.ts'

/** What the safety policy can allow at the most (shared/settings.ts). */
const HIGHEST_CAP = 100

export const attempts = invariant({
  n: 10,
  title: "attempts are numbered 1, 2, .. and end at the cap; only lost ones come on top of a block's own",
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag, max_attempts = HIGHEST_CAP }) {
    const tries = new Map(dag.blocks.map(({ id, retry }) => [id, Math.max(1, retry.max_attempts)]))
    return passesOf(events).flatMap((pass) => [
      ...numberProblems(pass, max_attempts),
      ...tryProblems(pass, Math.min(tries.get(pass.block_id) ?? 1, max_attempts)),
    ])
  },
})

/** Not the block's own tries: lost with its function, or given up since a person changed its inputs. */
const ON_TOP: ReadonlySet<string> = new Set(['ATTEMPT_LOST', 'inputs_edited'])

function numberProblems(pass: Pass, cap: number): readonly string[] {
  const numbers = pass.events.flatMap(({ type, attempt }) => (type === 'block:started' ? [attempt] : []))
  const wrong: string[] = []
  if (numbers.some((attempt, i) => attempt !== i + 1)) {
    wrong.push(`${nameOf(pass)}: attempts are numbered ${numbers.join(' ')}`)
  }
  if (numbers.length > cap) wrong.push(`${nameOf(pass)}: ${numbers.length} attempts, at most ${cap} are allowed`)
  return wrong
}

function tryProblems(pass: Pass, tries: number): readonly string[] {
  return pass.events.flatMap((event) => {
    if (event.type !== 'block:retrying' || ON_TOP.has(event.data.code)) return []
    if ((event.attempt ?? 0) < tries) return []
    return [`${nameOf(pass)}: event ${event.seq}: tried again after attempt ${event.attempt} of ${tries}`]
  })
}
