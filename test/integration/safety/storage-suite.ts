import { afterEach, describe, expect, test } from 'vitest'
import type { DispatchAnswer, Provider } from '../../../shared/providers/provider.ts'
import type { EventType, RunEvent } from '../../../shared/runs/event.ts'
import { weekOf } from '../../../shared/runs/run-store.ts'
import type { TestPlace } from '../test-place.ts'
import { dailyOnSqlite, type OpenSafe, post, QUICK, startOf } from './safety-place.ts'

/** The least quota there is. */
const MIB = 1_048_576
const KIB_300 = 307_200

const all = <T extends EventType>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)

/** What a run, and a tenant, may store, on one kind of store. */
export function storageSuite(store: string, openSafe: OpenSafe): void {
  const daily = dailyOnSqlite(store)
  let open: TestPlace

  /** Provider `probe` answers so many characters: its prompt says how many. */
  async function opened(safety: object): Promise<readonly string[]> {
    open = await openSafe(safety)
    const asked: string[] = []
    const probe: Provider = {
      dispatch: async ({ prompt, model }): Promise<DispatchAnswer> => {
        asked.push(prompt)
        const text = 'x'.repeat(Number(/\d+/.exec(prompt)?.[0] ?? 1))
        return { text, tokens_in: 10, tokens_out: 20, usd: 0.5, model, finish_reason: 'stop' }
      },
    }
    Object.assign(open.place.world, { providers: { get: () => probe, names: () => ['probe'] } })
    return asked
  }

  const block = (id: string, size: number, more: object = {}) => ({
    id,
    outputs: { text: 'string' },
    agent: { provider: 'probe', model: 'm', prompt: `${size} characters` },
    retry: { max_attempts: 3, delay_ms: 0 },
    ...more,
  })
  const headOf = (run_id: string) => open.place.world.runs.head({ tenant: 'main', run_id }, [])
  const failures = (events: readonly RunEvent[]) => all(events, 'block:failed').map(({ data }) => data)

  /** Every invariant of the run, among them that what its events name was counted. */
  async function verified(run_id: string): Promise<void> {
    const { json } = await post(open, 'verify-run', { run_id, body: null })
    const broken = (json.checks as { ok: boolean }[]).filter(({ ok }) => !ok)
    expect(broken).toEqual([])
  }

  describe(`max_run_bytes, on ${store},`, () => {
    afterEach(() => open.close())

    test('is counted in HEAD and shown with the run: its document, what models answered, what blocks gave', async () => {
      await opened({})
      const run_id = await open.start({ name: 'counted', blocks: [block('a', 5_000)] })
      await open.ended(run_id)
      const { stored_bytes = 0 } = (await headOf(run_id)) ?? {}
      expect(stored_bytes).toBeGreaterThan(10_000)
      expect(stored_bytes).toBeLessThan(20_000)
      const { json } = await post(open, 'get-run', { run_id, body: null })
      expect(json.run?.storage).toEqual({ stored_bytes, quota_bytes: 268_435_456 })
      await verified(run_id)
    })

    test('fails a block whose output does not fit, at once, and keeps what was paid for', daily, async () => {
      await opened({ max_run_bytes: MIB })
      const blocks = [block('a', KIB_300), block('b', KIB_300, { inputs: { text: { from: 'a.text' } } })]
      const run_id = await open.start({ name: 'over', blocks })
      const events = await open.ended(run_id)
      const [failed] = failures(events)
      expect(failures(events)).toHaveLength(1)
      expect(failed?.code).toBe('storage_quota')
      expect(failed?.reason).toMatch(
        new RegExp(
          `^Cannot store 307,202 bytes for block "b" of run "${run_id}": the run has stored 9\\d\\d,\\d{3} bytes, its quota is 1,048,576 bytes. Store less, or raise safety.max_run_bytes.`,
        ),
      )
      expect(all(events, 'block:retrying')).toEqual([])
      const [, paid] = all(events, 'block:output')
      expect(paid).toMatchObject({
        block_id: 'b',
        data: { outputs: {}, tokens_in: 10, tokens_out: 20, usd_micros: 500_000 },
      })
      const kept = await open.place.world.objects.get('main', paid?.data.raw_ref ?? '')
      expect(kept.byteLength).toBeGreaterThan(KIB_300)
      expect((await headOf(run_id))?.budget.spent_tokens).toBe(60)
      await verified(run_id)
    })

    test('stores none of several outputs that do not fit together', daily, async () => {
      await opened({ max_run_bytes: MIB })
      const expression = `{ "p": $pad("", ${2 * KIB_300}, "p"), "q": $pad("", ${2 * KIB_300}, "q") }`
      const blocks = [
        {
          id: 'both',
          mode: 'deterministic',
          deterministic: { handler: 'transform', config: { expression } },
          outputs: { p: 'string', q: 'string' },
        },
      ]
      const run_id = await open.start({ name: 'both', blocks })
      const events = await open.ended(run_id)
      expect(failures(events)).toMatchObject([{ code: 'storage_quota' }])
      expect((await headOf(run_id))?.stored_bytes).toBeLessThan(10_000)
    })

    test('a file that does not fit is not written', daily, async () => {
      await opened({ max_run_bytes: MIB })
      const blocks = [
        block('a', KIB_300),
        {
          id: 'save',
          mode: 'deterministic',
          inputs: { body: { from: 'a.text' } },
          deterministic: { handler: 'write-artifact', config: { name: 'a.txt' } },
          outputs: { file: 'artifact' },
        },
        {
          id: 'again',
          mode: 'deterministic',
          inputs: { body: { from: 'a.text' }, file: { from: 'save.file' } },
          deterministic: { handler: 'write-artifact', config: { name: 'b.txt' } },
          outputs: { file: 'artifact' },
        },
      ]
      const run_id = await open.start({ name: 'files', blocks })
      const events = await open.ended(run_id)
      expect(failures(events)).toMatchObject([{ code: 'storage_quota' }])
      const names = (await open.place.world.runs.artifacts({ tenant: 'main', run_id })).map(({ name }) => name)
      expect(names).toEqual(['a.txt'])
      await verified(run_id)
    })

    test('where nothing more fits no model is asked', daily, async () => {
      const asked = await opened({ max_run_bytes: MIB })
      const each = block('each', KIB_300, {
        inputs: { list: 'json' },
        foreach: { items: '{{inputs.list}}', as: 'one', max_concurrency: 1, tolerate: 9 },
      })
      const run_id = await open.start({ name: 'full', blocks: [each] }, { context: { list: [1, 2, 3, 4, 5] } })
      const events = await open.ended(run_id)
      expect(asked).toHaveLength(3)
      // Four of the items, and the list of their outputs.
      expect(failures(events).map(({ code }) => code)).toEqual(Array(5).fill('storage_quota'))
      await verified(run_id)
    })
  })

  describe(`max_tenant_bytes, on ${store},`, () => {
    afterEach(() => open.close())

    const upload = (size: number) =>
      post(open, 'upload-object', { body: { sha256: 'a'.repeat(64), size } }).then(({ status, json }) => ({
        status,
        code: json.code,
        facts: json.facts,
      }))

    test('counts what runs store and people bring, and is shown with the safety policy', daily, async () => {
      await opened({ max_tenant_bytes: 2 * MIB })
      const safety = () => post(open, 'get-safety', { body: null }).then(({ json }) => json.stored_bytes)
      expect(await safety()).toBe(0)
      const run_id = await open.start({ name: 'counted', blocks: [block('a', 5_000)] })
      await open.ended(run_id)
      const stored = (await headOf(run_id))?.stored_bytes ?? 0
      expect(await safety()).toBe(stored)
      expect(await upload(MIB)).toMatchObject({ status: 200 })
      expect(await safety()).toBe(stored + MIB)
      expect(await upload(MIB)).toMatchObject({
        status: 413,
        code: 'storage_quota',
        facts: { setting: 'max_tenant_bytes', stored_bytes: stored + MIB, asked_bytes: MIB, quota_bytes: 2 * MIB },
      })
      expect(await safety()).toBe(stored + MIB)
    })

    test('fails the block that does not fit, and forgets what has had its time', daily, async () => {
      await opened({ max_tenant_bytes: 2 * MIB, retention_days: 1 })
      const { world } = open.place
      const now = world.clock.now()
      const count = (days: number, bytes: number) => {
        const week = weekOf(now - days * 86_400_000)
        return world.runs.countStored('main', { week, bytes, ttl: Math.floor(now / 1_000) + 86_400 })
      }
      await count(39, 2 * MIB)
      const fits = await open.start({ name: 'fits', blocks: [block('a', 5_000)] })
      expect(failures(await open.ended(fits))).toEqual([])
      await count(7, 2 * MIB - 25_000)
      const over = await open.start({ name: 'over', blocks: [block('a', 50_000)] })
      const [failed] = failures(await open.ended(over))
      expect(failed).toMatchObject({
        code: 'storage_quota',
        reason: expect.stringContaining('tenant "main" has stored 2,'),
      })
      expect(failed?.reason).toContain('raise safety.max_tenant_bytes')
    })

    test('counts nothing where it is not set', async () => {
      await opened({})
      await open.ended((await startOf(open, { ...QUICK, blocks: [block('a', 100)] })).json.run_id ?? '')
      expect(await open.place.world.runs.storedSince('main', '2000-01-03')).toBe(0)
      expect((await post(open, 'get-safety', { body: null })).json).not.toHaveProperty('stored_bytes')
    })
  })
}
