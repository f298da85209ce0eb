import { isRunEnd } from '../is-run-end.ts'
import { invariant } from './invariant.ts'

export const nothingAfterEnd = invariant({
  n: 4,
  title: 'nothing follows the event that ends a run',
  of: 'log',
  needs: ['events'],
  check({ events }) {
    const end = events.findIndex(({ type }) => isRunEnd(type))
    if (end < 0) return []
    return events.slice(end + 1).map(({ seq, type }) => `event ${seq} ${type} after the end at event ${end + 1}`)
  },
})

export const oneEnd = invariant({
  n: 5,
  title: 'an ended run has exactly one event that ends it, a live one none',
  of: 'log',
  needs: ['events'],
  check({ events, head }) {
    const ends = events.filter(({ type }) => isRunEnd(type)).length
    const wanted = head?.state === 'running' ? 0 : 1
    // Without HEAD nobody knows whether it lives.
    return ends === wanted || (head === undefined && ends === 0) ? [] : [`${ends} terminal events, ${wanted} expected`]
  },
})

export const finalState = invariant({
  n: 6,
  title: 'the state of an ended run is what its last event says, and never changes',
  of: 'store',
  needs: ['events', 'head'],
  check({ events, head, before }) {
    const end = events.find(({ type }) => isRunEnd(type))
    const told = end === undefined ? 'running' : end.type.slice('run:'.length)
    const wrong = head.state === told ? [] : [`HEAD says ${head.state}, the events say ${told}`]
    if (before === undefined || before.state === 'running' || before.state === head.state) return wrong
    return [...wrong, `it was ${before.state} and is ${head.state}`]
  },
})
