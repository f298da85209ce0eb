import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../shared/text/json.ts'

/** A place whose time goes on when it is told to, and in which CHAIN_DOCUMENTS are deployed by their names. */
export interface ChainPlace {
  /** Goes on by so many seconds. */
  pass(seconds: number): Promise<void>
  /** What a rule, a schedule or a timer calls. */
  look(): Promise<unknown>
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<Readonly<Record<string, unknown>>>
  /** First contexts of the runs a trigger started, by their runs. */
  contexts(trigger: string): Promise<ReadonlyMap<string, Json>>
  close(): Promise<void>
}

const block = (expression: string, output: string) => ({
  id: 'save',
  mode: 'deterministic',
  inputs: { n: 'json' },
  deterministic: { handler: 'transform', config: { expression } },
  outputs: { [output]: 'json' },
})
const inputs = { n: { type: 'json', default: 0 } }

/** Runs of the second start when those of the first end, and by events at a pace. */
export const CHAIN_DOCUMENTS: Readonly<Record<string, string>> = {
  'chain-import': JSON.stringify({ name: 'rows', inputs, blocks: [block('inputs.n * 10', 'rows')] }),
  'chain-after': JSON.stringify({
    name: 'chain-after',
    inputs,
    blocks: [block('inputs.n', 'seen')],
    triggers: [
      { name: 'after', run: { dag: 'chain-import', map: { n: 'outputs.save.rows' } } },
      { name: 'failed', run: { dag: 'chain-import', ends: ['failed'], map: { n: 'run.code' } } },
      {
        name: 'joined',
        event: { name: 'chain.joined', map: { n: 'detail' } },
        debounce: { for: '30s', at_most: '2m' },
      },
      { name: 'some', event: { name: 'chain.some', map: { n: 'detail' } }, rate: { limit: 2, per: '10m' } },
    ],
  }),
}

const PATIENCE = { timeout: 60_000, interval: 100 }

/** Ends of runs that start others, and triggers that start at a pace: one firing an end, the last for all, no more than so many. */
export function triggerChainSuite(name: string, open: () => Promise<ChainPlace>): void {
  describe(`Triggers by ends and at a pace on ${name}`, () => {
    let place: ChainPlace
    beforeAll(async () => {
      place = await open()
      await place.look()
    }, 240_000)
    afterAll(() => place?.close())

    const started = async (trigger: string) => [...(await place.contexts(trigger)).values()]
    const send = (event: string, payload: number) =>
      place.call('POST', '/api/events', { name: event, payload, id: `${event}-${payload}` })
    const firings = async (trigger: string) => {
      const { firings: found } = await place.call('GET', `/api/triggers/chain-after/${trigger}`)
      return (found as readonly { id: string; state: string; reason?: { code: string } }[]).map(({ state, reason }) =>
        state === 'skipped' ? reason?.code : state,
      )
    }

    test('each end of its kind starts one run, with what the run before gave', async () => {
      for (const n of [1, 2, 'x']) await place.call('POST', '/api/dag/run', { name: 'chain-import', inputs: { n } })
      await expect.poll(async () => (await started('after')).length, PATIENCE).toBe(2)
      await expect.poll(async () => (await started('failed')).length, PATIENCE).toBe(1)
      await Promise.all([place.look(), place.look()])
      expect(await started('after')).toEqual(expect.arrayContaining([{ n: 10 }, { n: 20 }]))
      expect(await started('after')).toHaveLength(2)
      const { firings: found } = await place.call('GET', '/api/triggers/chain-after/after')
      for (const { id, run_id } of found as readonly { id: string; run_id: string }[]) {
        const { run } = await place.call('GET', `/api/dag/runs/${run_id}`)
        expect(run).toMatchObject({ starter: 'trigger:after', follows: id.slice('run:'.length) })
      }
    })

    test('debounce: the last of several stands for all of them', async () => {
      for (const n of [1, 2, 3]) {
        await place.pass(10)
        await send('chain.joined', n)
        await place.look()
      }
      expect(await started('joined')).toEqual([])
      await place.pass(40)
      await Promise.all([place.look(), place.look()])
      await expect.poll(async () => (await started('joined')).length, PATIENCE).toBe(1)
      expect(await started('joined')).toEqual([{ n: 3 }])
      await place.look()
      expect((await firings('joined')).toSorted()).toEqual(['started', 'trigger_joined', 'trigger_joined'])
    })

    test('rate: what comes over it is left out, and later ones start again', async () => {
      for (const n of [1, 2, 3, 4]) {
        await place.pass(1)
        await send('chain.some', n)
        await place.look()
      }
      await expect.poll(async () => (await started('some')).length, PATIENCE).toBe(2)
      await place.pass(700)
      await send('chain.some', 5)
      await place.look()
      await expect.poll(async () => (await started('some')).length, PATIENCE).toBe(3)
      expect((await firings('some')).toSorted()).toEqual([
        'started',
        'started',
        'started',
        'trigger_rate',
        'trigger_rate',
      ])
      expect(await started('some')).toContainEqual({ n: 5 })
    })
  })
}
