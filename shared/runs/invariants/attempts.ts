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
      ...numberProblems(pass),
      ...lossProblems(pass, max_attempts),
      ...tryProblems(pass, Math.min(tries.get(pass.block_id) ?? 1, max_attempts)),
    ])
  },
})

/** Not the block's own tries: lost with its function, or given up since a person changed its inputs. */
const ON_TOP: ReadonlySet<string> = new Set(['ATTEMPT_LOST', 'inputs_edited'])

function numberProblems(pass: Pass): readonly string[] {
  const numbers = pass.events.flatMap(({ type, attempt }) => (type === 'block:started' ? [attempt] : []))
  if (numbers.every((attempt, i) => attempt === i + 1)) return []
  return [`${nameOf(pass)}: attempts are numbered ${numbers.join(' ')}`]
}

/** As many may be lost as may be tried. */
function lossProblems(pass: Pass, cap: number): readonly string[] {
  const lost = pass.events.filter((event) => 'code' in event.data && event.data.code === 'ATTEMPT_LOST').length
  return lost > cap ? [`${nameOf(pass)}: ${lost} attempts were lost, at most ${cap} may be`] : []
}

function tryProblems(pass: Pass, tries: number): readonly string[] {
  const again = pass.events.filter((event) => event.type === 'block:retrying')
  const counted = again.filter(({ data }) => !ON_TOP.has(data.code))
  const last = counted[tries - 1]
  if (last === undefined) return []
  return [`${nameOf(pass)}: event ${last.seq}: tried again after try ${tries} of ${tries}`]
}
