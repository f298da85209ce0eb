import { describe, expect, test } from 'vitest'
import { isRunEnd } from '../../../shared/runs/event-types.ts'
import { ASKING, BRIEF, KEYS, OLD_SECRET, owed, placeWith, receiver, SECRET } from './webhook-place.ts'

const INPUTS = { inputs: { text: 'a text nobody else has' } }

describe('an endpoint', () => {
  test('is told of every event of a run, in the order of the log, each once, signed', async () => {
    const hook = await receiver()
    const place = await placeWith([{ url: hook.url }])
    const run_id = await place.start(BRIEF, INPUTS)
    const events = await place.ended(run_id)
    await expect.poll(() => owed(place, run_id)).toEqual([])
    expect(hook.received.map(({ id }) => id)).toEqual(events.map(({ seq }) => `${run_id}-${seq}-n0`))
    expect(hook.received.every(({ signed_by }) => signed_by.length === 1)).toBe(true)
    const now = Date.now() / 1_000
    expect(hook.received.every(({ timestamp }) => Math.abs(timestamp - now) < 60)).toBe(true)
    const last = events.at(-1)
    expect(hook.received.at(-1)?.body).toEqual({
      id: `${run_id}-${last?.seq}-n0`,
      type: 'run:completed',
      at: last?.at,
      tenant: 'main',
      run_id,
      dag_name: 'brief',
      seq: last?.seq,
      data: last?.data,
      links: { run: `/api/dag/runs/${run_id}`, events: `/api/dag/runs/${run_id}/replay?since=${(last?.seq ?? 0) - 1}` },
    })
    expect(JSON.stringify(hook.received)).not.toContain('a text nobody else has')
  })

  test('is told of what it asked for alone, of the DAGs it asked for', async () => {
    const [ends, briefs] = [await receiver(), await receiver()]
    const place = await placeWith([
      { url: ends.url, events: ['run:completed', 'run:failed'] },
      { url: briefs.url, events: ['run:started'], dags: ['asking'] },
    ])
    const run_id = await place.start(BRIEF, INPUTS)
    await place.ended(run_id)
    await expect.poll(() => owed(place, run_id)).toEqual([])
    const asked = await place.start(ASKING, INPUTS)
    await expect.poll(() => briefs.received.map(({ body }) => body.run_id)).toEqual([asked])
    expect(ends.received.map(({ body }) => body.type)).toEqual(['run:completed'])
  })

  test('is told of a question while it waits for its answer', async () => {
    const hook = await receiver()
    const place = await placeWith([{ url: hook.url, events: ['approval:requested', 'approval:decided'] }])
    const run_id = await place.start(ASKING, INPUTS)
    await expect.poll(() => hook.received.map(({ body }) => body.type)).toEqual(['approval:requested'])
    const told = hook.received[0]?.body ?? {}
    const { approval_id, digest } = told.data as { readonly approval_id: string; readonly digest: string }
    await place.call('decide-approval', run_id, { approval_id, decision: 'approve', digest })
    await place.ended(run_id)
    await expect.poll(() => owed(place, run_id)).toEqual([])
    expect(hook.received.map(({ body }) => body.type)).toEqual(['approval:requested', 'approval:decided'])
  })

  test('is told by both secrets while they are rotated, whichever it holds', async () => {
    const hook = await receiver(OLD_SECRET, SECRET)
    const place = await placeWith([
      { url: hook.url, events: ['run:completed'], key: [{ env: 'HOOK' }, { env: 'OLD_HOOK' }] },
    ])
    await place.ended(await place.start(BRIEF, INPUTS))
    await expect.poll(() => hook.received.map(({ signed_by }) => signed_by)).toEqual([[0, 1]])
  })

  test('gets one message, and HEAD owes it nothing more, however often the sweep and others come', async () => {
    const hook = await receiver()
    const place = await placeWith([{ url: hook.url, events: ['run:completed'] }])
    const run_id = await place.start(BRIEF, INPUTS)
    await place.ended(run_id)
    await expect.poll(() => owed(place, run_id)).toEqual([])
    const run = { tenant: 'main', run_id }
    await Promise.all(
      ['a', 'b', 'c'].flatMap(() => [
        place.place.invoke('send-outbox', run),
        place.place.invoke('send-webhooks', { run, endpoint: 'n0' }),
      ]),
    )
    expect(hook.received).toHaveLength(1)
  })

  test('that the settings name no more is owed nothing', async () => {
    const hook = await receiver()
    hook.react(500)
    const first = await placeWith([{ url: hook.url, events: ['run:completed'] }])
    const run_id = await first.start(BRIEF, INPUTS)
    await first.ended(run_id)
    await expect.poll(async () => (await owed(first, run_id))[0]).toMatchObject({ tries: 1 })
    const { data_dir } = first.place.world.settings
    await first.place.close()
    const other = await placeWith([], {}, { data_dir })
    await other.place.invoke('send-webhooks', { run: { tenant: 'main', run_id }, endpoint: 'n0' })
    // Its pause first.
    expect(await owed(other, run_id)).toHaveLength(1)
    await other.place.close()
    const later = await placeWith(
      [],
      { clock: { now: () => Date.now() + 60_000, delay: first.place.world.clock.delay } },
      { data_dir },
    )
    await expect.poll(() => owed(later, run_id)).toEqual([])
    expect(hook.received).toHaveLength(1)
  })
})

describe('secrets', () => {
  test('stand in no log, event, answer or message', async () => {
    const lines: unknown[] = []
    const log = {
      info: (...line: unknown[]) => void lines.push(line),
      error: (...line: unknown[]) => void lines.push(line),
    }
    const hook = await receiver()
    hook.react(500, 204)
    const place = await placeWith([{ url: `${hook.url}/path-secret?token=query-secret`, events: 'all' }], { log })
    const run_id = await place.start(BRIEF, INPUTS)
    const events = await place.ended(run_id)
    await expect.poll(() => hook.received.length).toBeGreaterThan(0)
    const answers = await Promise.all(
      ['list-webhooks', 'list-dead-webhooks', 'get-config'].map((name) => place.call(name, run_id)),
    )
    const tested = await place.call('test-webhook', run_id, { name: 'n0' })
    const all = JSON.stringify([lines, events, answers, tested, hook.received])
    expect(all).toContain('"n0"')
    for (const secret of [...KEYS.values(), 'path-secret', 'query-secret']) expect(all).not.toContain(secret)
  })

  test('that are not there are missed at the start of the place and when it tells; nothing is sent unsigned', async () => {
    const lines: string[] = []
    const log = { info: (line: string) => void lines.push(line), error: (line: string) => void lines.push(line) }
    const hook = await receiver()
    const place = await placeWith([{ url: hook.url, key: { env: 'NO_SUCH' } }], { log })
    expect(lines).toContainEqual(expect.stringContaining('webhook "n0" is not told: environment variable NO_SUCH'))
    const run_id = await place.start(BRIEF, INPUTS)
    const events = await place.ended(run_id)
    expect(isRunEnd(events.at(-1)?.type ?? '')).toBe(true)
    await expect.poll(async () => (await owed(place, run_id))[0]).toMatchObject({ tries: 1 })
    const { json } = await place.call('test-webhook', run_id, { name: 'n0' })
    expect(json).toMatchObject({ delivered: false, reason: expect.stringContaining('has no key of it') })
    expect(hook.received).toEqual([])
  })
})
