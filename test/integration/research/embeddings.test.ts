import { afterEach, describe, expect, test } from 'vitest'
import { readChain } from '../../../functions/research/stored-chain.ts'
import type { Stage } from '../../../shared/research/stages.ts'
import { embeds, startEmbedder, textsOf } from '../../emulators/embedding-server.ts'
import { type Behaviour, json, type ProviderServer } from '../../emulators/provider-server.ts'
import { firstDaily } from '../../how-much.ts'
import { type Asked, ledgerOf, openResearchPlace, type ResearchPlace } from './research-place.ts'
import { idOf } from './small-atlas.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** Words of the atlas that mean water; every other text means something else. */
const meaning = (text: string) => (/ocean|island|fjord|lake|harbour|sea/i.test(text) ? [1, 0.1] : [0.1, 1])

async function withEmbedder(
  type: 'ollama' | 'openai-compatible' = 'openai-compatible',
  research: object = {},
): Promise<{ readonly place: ResearchPlace; readonly server: ProviderServer }> {
  const server = await startEmbedder(meaning)
  const settings = {
    providers: { near: { type, url: server.url } },
    research: { embeddings: { provider: 'near', model: 'e-1', ...research } },
  }
  const place = await openResearchPlace({}, settings)
  open.push(place, server)
  return { place, server }
}

/** No name of a thing is in it: words and meaning have it to themselves. */
const TOPIC = 'Which parliament lies on the sea?'
async function stateAfter({ place }: ResearchPlace, { answer }: Asked, stage: Stage) {
  const row = answer.trace.find((one) => one.stage === stage)
  return readChain(place.world, 'main', row?.out_ref ?? '')
}
const found = ({ answer }: Asked) => (answer.result?.evidence ?? []).map(({ entity_id, source }) => [entity_id, source])

/** The answer without embeddings: asked for once. */
let plain: Promise<Asked> | undefined
function plainly(): Promise<Asked> {
  plain ??= (async () => {
    const place = await openResearchPlace()
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
    await place.close()
    return asked
  })()
  return plain
}

describe('embeddings of the settings', () => {
  for (const { tags, rows } of firstDaily(1, ['openai-compatible', 'ollama'] as const))
    test.each(rows)('rank what words found by meaning (%s)', { tags }, async (type) => {
      const { place, server } = await withEmbedder(type)
      const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
      const texts = server.asked.map(textsOf)
      expect(server.asked.every(({ body }) => body.model === 'e-1')).toBe(true)
      expect(texts[0]?.[0]).toBe(TOPIC)
      expect(texts[0]?.slice(1)).toContain('Peru\nPeru lies on the Pacific Ocean.')
      const { classified } = await stateAfter(place, asked, 'nl_classify')
      const candidates = (classified?.candidates ?? []).filter(({ source }) => source === 'embedding')
      expect(candidates.map(({ entity_id }) => entity_id)).toContain(idOf('country', 'pe'))
      expect(candidates.every(({ tier }) => tier === '1')).toBe(true)
      // Sub-queries have a list of their own too, nearest first.
      const { hits } = await stateAfter(place, asked, 'execute_subqueries')
      const cosines = hits.flatMap(({ evidence }) => (evidence.source === 'embedding' ? [evidence.score ?? 0] : []))
      expect(cosines.length).toBeGreaterThan(1)
      expect(cosines).toEqual(cosines.toSorted((a, b) => b - a))
      expect(asked.answer.degraded.filter((why) => /embed/.test(why))).toEqual([])
    })

  test('are counted in the ledger of the run like any call, and every invariant holds', async () => {
    const { place, server } = await withEmbedder()
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
    const without = await plainly()
    const counted = server.asked.reduce((sum, one) => sum + 5 * textsOf(one).length, 0)
    const ledger = await ledgerOf(place, asked)
    expect(counted).toBeGreaterThan(0)
    expect(asked.answer.trace[0]).toMatchObject({
      stage: 'nl_classify',
      tokens: 5 * textsOf(server.asked[0] as never).length,
    })
    expect(without.answer.trace[0]).toMatchObject({ tokens: 0 })
    expect(ledger).toMatchObject({ spent_tokens: asked.answer.result?.tokens_used, told: ledger.spent_tokens })
    expect(ledger.committed_tokens).toBe(ledger.spent_tokens)
    expect((await place.call('verify-run', asked.run_id)).json).toMatchObject({ ok: true })
  })

  test('count as the settings or the question say; at 0 nothing is embedded, and the answer is as without', async () => {
    const { place, server } = await withEmbedder('openai-compatible', { weight: 1 })
    const sea = idOf('country', 'pe')
    const rankOf = async (more: object) => {
      const { classified } = await stateAfter(
        place,
        await place.ask({ topic: TOPIC, budget_tokens: 20_000, ...more }),
        'nl_classify',
      )
      return (classified?.candidates ?? []).findIndex(({ entity_id }) => entity_id === sea)
    }
    const [set, low] = [await rankOf({}), await rankOf({ embeddings_weight: 0.01 })]
    expect(set).toBeGreaterThanOrEqual(0)
    expect(low).toBeGreaterThan(set)
    const before = server.asked.length
    const none = await place.ask({ topic: TOPIC, budget_tokens: 20_000, embeddings_weight: 0 })
    expect(server.asked).toHaveLength(before)
    expect(found(none)).toEqual(found(await plainly()))
    expect(none.answer.embeddings_weight).toBe(0)
    expect((await place.call('start-research', '', { topic: TOPIC, embeddings_weight: 2 })).json).toMatchObject({
      status: 400,
    })
  })

  test('are asked of so many hits and no more', async () => {
    const { place, server } = await withEmbedder('openai-compatible', { hits: 3 })
    await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
    expect(server.asked.map((one) => textsOf(one).length)).toContain(4)
    expect(Math.max(...server.asked.map((one) => textsOf(one).length))).toBe(4)
  })

  test('take of a small budget what its calls can spare, or are left out and said so', async () => {
    const { place, server } = await withEmbedder()
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 300 })
    expect(server.asked).toEqual([])
    expect(asked.answer.degraded).toContainEqual(expect.stringMatching(/^hits were not embedded: budget/))
    expect(asked.answer.result?.tokens_used).toBeLessThanOrEqual(300)
  })
})

describe('a provider of embeddings that fails', () => {
  for (const { tags, rows } of firstDaily<[string, Behaviour, RegExp]>(1, [
    ['refuses', json(400, { error: { message: 'no such model' } }), /the embedding failed: provider_refused/],
    ['answers too few vectors', embeds([[1, 2]]), /the embedding failed: provider_invalid/],
    ['answers vectors of no numbers', embeds([[null], [null]]), /the embedding failed: provider_invalid/],
  ]))
    test.each(rows)('and %s degrades the answer, which is otherwise as without it', { tags }, async (_, how, words) => {
      const { place, server } = await withEmbedder()
      server.next(...Array.from({ length: 20 }, () => how))
      const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
      expect(asked.answer.degraded).toContainEqual(expect.stringMatching(words))
      expect(asked.answer.state).toBe('completed')
      expect(found(asked)).toEqual(found(await plainly()))
    })

  test('and says when to come back is asked again then', async () => {
    const { place, server } = await withEmbedder()
    server.next(json(429, {}, { 'retry-after': '1' }))
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
    expect(asked.answer.trace[0]).toMatchObject({ retries: 1 })
    expect(asked.answer.degraded.filter((why) => /embed/.test(why))).toEqual([])
  })
})
