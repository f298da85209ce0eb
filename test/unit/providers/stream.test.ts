import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCompletionStream } from '../../../functions/providers/completions.ts'
import { retryAfterMs } from '../../../functions/providers/faults.ts'
import { limitBody } from '../../../functions/providers/remote.ts'
import { listedPrice } from '../../../shared/providers/model-prices.ts'
import { streamOf } from '../../emulators/openai-server.ts'

const remote = { name: 'suite' }

/** A body that arrives in pieces cut at these places. */
function bodyOf(text: string, cuts: readonly number[]) {
  const bytes = Buffer.from(text)
  const at = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b)
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const [i, from] of [0, ...at].entries()) controller.enqueue(bytes.subarray(from, at[i] ?? bytes.length))
      controller.close()
    },
  })
  return limitBody(stream, { provider: 'suite', translate: (error) => error, heard: () => {} })
}

describe('a stream of events', () => {
  const words = fc.string({ unit: 'grapheme', maxLength: 20 })
  const cuts = fc.array(fc.nat(), { maxLength: 40 })

  test('is read the same wherever its bytes are cut', async () => {
    const law = fc.asyncProperty(words, cuts, fc.constantFrom('\n\n', '\r\n\r\n'), async (text, where, end) => {
      const completion = await readCompletionStream(remote, bodyOf(streamOf(text, 'm', end), where).lines())
      expect(completion).toMatchObject({
        text,
        finish_reason: 'stop',
        model: 'm',
        usage: { tokens_in: 21, tokens_out: 9 },
      })
    })
    await fc.assert(law, { numRuns: 50 })
  })

  test.each([1, 2, 3, 5])('in pieces of %i bytes keeps its characters whole', async (size) => {
    const text = streamOf('Grüße an 世界 🌊👩‍👩‍👧')
    const every = Array.from({ length: Math.ceil(Buffer.from(text).length / size) }, (_, i) => i * size)
    expect(await readCompletionStream(remote, bodyOf(text, every).lines())).toMatchObject({
      text: 'Grüße an 世界 🌊👩‍👩‍👧',
    })
  })

  test('that ends early, anywhere before its finish reason, is cut and not an answer', async () => {
    const whole = streamOf('Grüße', 'm')
    const last = Buffer.from(whole.slice(0, whole.indexOf('"finish_reason":"stop"'))).length
    const law = fc.asyncProperty(fc.integer({ min: 1, max: last }), async (bytes) => {
      const text = Buffer.from(whole).subarray(0, bytes).toString()
      await expect(readCompletionStream(remote, bodyOf(text, []).lines())).rejects.toMatchObject({
        code: 'provider_unavailable',
      })
    })
    await fc.assert(law, { numRuns: 50 })
  })

  test('needs no end mark after its finish reason', async () => {
    const text = streamOf('done').replace('data: [DONE]\n\n', '')
    expect(await readCompletionStream(remote, bodyOf(text, []).lines())).toMatchObject({
      text: 'done',
      finish_reason: 'stop',
    })
  })
})

test.each([
  ['5', 5_000],
  [' 2.5 ', 2_500],
  ['0', undefined],
  ['-3', undefined],
  ['1e9', undefined],
  ['7 apples', undefined],
  ['2015', 2_015_000],
  ['Sun Nov 22 2026', undefined],
  ['Sun, 22 Nov 2026 00:00:10 GMT', 10_000],
])('Retry-After: %s', (text, expected) => {
  expect(retryAfterMs(new Headers({ 'retry-after': text }), Date.UTC(2026, 10, 22))).toBe(expected)
})

test.each([
  ['openai-compatible', 'https://api.openai.com/v1', 'gpt-4o-mini', 0.15],
  ['openai-compatible', 'https://api.openai.com/v1', 'gpt-4o-mini-2024-07-18', 0.15],
  ['openai-compatible', 'https://api.openai.com/v1', 'gpt-next', undefined],
  ['openai-compatible', 'https://api.openai.com/v1', 'text-embedding-3-small', 0.02],
  ['openai-compatible', 'https://api.openai.com/v1', 'text-embedding-3-large', 0.13],
  ['openai-compatible', 'https://api.openai.com/v1', 'text-embedding-ada-002', 0.1],
  ['openai-compatible', 'https://gateway.example/v1', 'gpt-4o-mini', undefined],
  ['openai-compatible', 'https://api.openai.com.evil.example/v1', 'gpt-4o-mini', undefined],
  ['ollama', 'http://127.0.0.1:11434', 'llama3:8b', 0],
  ['ollama', 'http://127.0.0.1:11434', 'gpt-oss:120b-cloud', undefined],
  ['ollama', 'https://ollama.com', 'llama3:8b', undefined],
  ['openai-compatible', 'https://api.openai.com/v1', '__proto__', undefined],
])('the price of %s at %s, model %s', (type, url, model, expected) => {
  expect(listedPrice({ type, url, model })?.usd_per_million_in).toBe(expected)
})
