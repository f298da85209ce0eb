import { expect, test } from 'vitest'

import { retryAfterMs } from '../../../functions/providers/faults.ts'
import { listedPrice } from '../../../shared/providers/model-prices.ts'

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
