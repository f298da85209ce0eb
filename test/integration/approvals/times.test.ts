import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { type ApprovalPlace, deploy, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
let ahead = 0
/** The place's clock goes with the real one, but for what a test puts it ahead. */
const clock = { now: () => Date.now() + ahead, delay: systemClock.delay }
afterEach(async () => {
  await open?.close()
  open = undefined
  ahead = 0
})

const told = ({ type }: RunEvent) => type === 'approval:reminded' || type === 'approval:escalated'
const countOf = (events: readonly RunEvent[]) => events.filter(told).length

/** Puts the clock ahead to this second after the question, and waits until so many events told of it. */
async function goTo(id: string, requested: number, second: number, tellings: number): Promise<readonly string[]> {
  ahead = requested + second * 1_000 - Date.now()
  await open?.until(id, (event) => told(event) && event.seq > 0 && countNow(event, tellings))
  const events = (await open?.events(id)) ?? []
  return events.filter(told).map(({ type }) => type.slice('approval:'.length))
}

const seen = new Map<string, Set<number>>()
function countNow(event: RunEvent, tellings: number): boolean {
  const seqs = seen.get(event.run_id) ?? new Set()
  seen.set(event.run_id, seqs.add(event.seq))
  return seqs.size >= tellings
}

const TIMES = { timeout_sec: 3_600, remind_sec: 600, escalate: { after_sec: 1_500, to: ['user:cy'] } }

describe('while nobody decides', () => {
  test('people are reminded, others are asked besides, and they may decide from then on', async () => {
    open = await openApprovalPlace({}, { clock })
    const id = await open.start(deploy({ ...TIMES, approvers: ['user:ana'] }))
    const { digest, approval_id } = await open.asked(id, 'deploy')
    const requested = Date.parse((await open.events(id)).find(({ type }) => type === 'approval:requested')?.at ?? '')
    expect(await goTo(id, requested, 601, 1)).toEqual(['reminded'])
    expect(await open.decide(id, 'user:cy', { decision: 'approve', digest })).toBe('not_an_approver')
    expect(await goTo(id, requested, 1_201, 2)).toEqual(['reminded', 'reminded'])
    expect(await goTo(id, requested, 1_501, 3)).toEqual(['reminded', 'reminded', 'escalated'])
    const key = { tenant: 'main', run_id: id }
    const head = await open.place.world.runs.head(key)
    expect(head?.approvals[approval_id]).toMatchObject({ told: 3, escalated: true, status: 'pending' })
    expect(head?.lanes.n1).toBe(3)
    expect((await open.call('get-run', id)).json).toMatchObject({
      approvals: [{ reminded: 2, escalated_to: ['user:cy'] }],
    })
    expect(await open.decide(id, 'user:cy', { decision: 'approve', digest })).toBe('approved')
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.filter(({ type }) => type === 'approval:reminded').map(({ data }) => data)).toMatchObject([
      { n: 1 },
      { n: 2 },
    ])
    expect(await open.problems(id)).toEqual([])
  })

  test('a place that was away tells what is due once, and again later, also after a kill', async () => {
    open = await openApprovalPlace({}, { clock })
    const id = await open.start(deploy(TIMES))
    await open.asked(id, 'deploy')
    const requested = Date.parse((await open.events(id)).find(({ type }) => type === 'approval:requested')?.at ?? '')
    await open.kill()
    expect(await goTo(id, requested, 2_000, 2)).toEqual(['reminded', 'escalated'])
    expect(await goTo(id, requested, 2_401, 3)).toEqual(['reminded', 'escalated', 'reminded'])
    ahead = requested + 3_601_000 - Date.now()
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'approval_expired' } })
    expect(countOf(events)).toBe(3)
    expect(await open.problems(id)).toEqual([])
  })

  test('the run does not stall, and reminders and votes are no end of the pause that moves its deadline', async () => {
    open = await openApprovalPlace({ safety: { stall_sec: 60 } }, { clock })
    const id = await open.start(deploy({ ...TIMES, quorum: 2 }), { options: { deadline_sec: 1_000 } })
    const { digest } = await open.asked(id, 'deploy')
    const key = { tenant: 'main', run_id: id }
    const before = Date.parse((await open.place.world.runs.head(key))?.deadline_at ?? '')
    const requested = Date.parse((await open.events(id)).find(({ type }) => type === 'approval:requested')?.at ?? '')
    await goTo(id, requested, 1_210, 1)
    expect(await open.decide(id, 'user:ana', { decision: 'approve', digest })).toBe('pending')
    ahead += 20_000
    expect(await open.decide(id, 'user:bo', { decision: 'approve', digest })).toBe('approved')
    expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
    const moved = Date.parse((await open.place.world.runs.head(key))?.deadline_at ?? '') - before
    expect(moved).toBeGreaterThanOrEqual(1_230_000)
    expect(moved).toBeLessThan(1_290_000)
  })
})

test.each([
  ['a reminder comes between a vote and what it read', 'a'],
  ['a vote comes between a reminder and what it read', 'n'],
] as const)('%s: neither loses anything', async (_, lane) => {
  open = await openApprovalPlace({}, { clock, sweep_ms: 0 })
  const place = open
  const id = await place.start(deploy({ ...TIMES, quorum: 2 }))
  const { digest, approval_id } = await place.asked(id, 'deploy')
  ahead = 700_000
  const vote = () => place.decide(id, 'user:ana', { decision: 'approve', digest })
  const sweep = () => place.place.invoke('sweep', {})
  const [first, between] = lane === 'a' ? [vote, sweep] : [sweep, vote]
  const { runs } = place.place.world
  const append = runs.append.bind(runs)
  Object.assign(runs, {
    append: async (given: Parameters<typeof append>[0]) => {
      if (given.lane !== `${lane}1`) return append(given)
      Object.assign(runs, { append })
      await between()
      return append(given)
    },
  })
  await first()
  const head = await runs.head({ tenant: 'main', run_id: id })
  expect(head?.approvals[approval_id]).toMatchObject({
    told: 1,
    votes: [{ by: 'user:ana' }],
    next_at: expect.any(String),
  })
  expect(countOf(await place.events(id))).toBe(1)
  expect(await place.decide(id, 'user:bo', { decision: 'approve', digest })).toBe('approved')
  await place.ended(id)
  expect(await place.problems(id)).toEqual([])
})
