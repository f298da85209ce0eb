import type { Moment } from './replay-moments.ts'

/** At most `most` of them, those that fall together on the slider as one: the worst tone, all words. */
export function markedMoments(moments: readonly Moment[], newest: number, most = 200): readonly Moment[] {
  const places = Map.groupBy(moments, ({ seq }) => Math.round((seq / Math.max(1, newest)) * most))
  return [...places.values()].flatMap((group) => {
    const worst = group.toSorted((a, b) => SEVERITY.indexOf(b.tone) - SEVERITY.indexOf(a.tone))[0]
    return worst === undefined ? [] : [worst]
  })
}

const SEVERITY: readonly Moment['tone'][] = ['quiet', 'busy', 'good', 'wait', 'warn', 'bad']
