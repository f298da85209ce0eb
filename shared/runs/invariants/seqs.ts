import { invariant } from './invariant.ts'

export const seqs = invariant({
  n: 1,
  title: 'the events of a run have the seqs 1..n, n as HEAD says',
  of: 'log',
  needs: ['events'],
  check({ events, head, meta }) {
    const wrong: string[] = []
    const at = events.findIndex(({ seq }, i) => seq !== i + 1)
    if (at >= 0) wrong.push(`event ${events[at]?.seq} stands where event ${at + 1} belongs`)
    if (head !== undefined && head.seq !== events.length) {
      wrong.push(`HEAD says ${head.seq} events, there are ${events.length}`)
    }
    const [first] = events
    if (first !== undefined && first.type !== 'run:started') wrong.push(`event 1 is ${first.type}, not run:started`)
    const run_id = meta?.run_id ?? first?.run_id
    const strange = events.find((event) => event.run_id !== run_id)
    if (strange !== undefined) wrong.push(`event ${strange.seq} is of run "${strange.run_id}"`)
    return wrong
  },
})
