import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { genAiProvider } from '../../../shared/telemetry/call-span.ts'
import { otlpJson, type Span } from '../../../shared/telemetry/otlp-spans.ts'
import { attemptSpanId, runSpanId, runTraceId } from '../../../shared/telemetry/span-ids.ts'

const base: Span = {
  trace_id: runTraceId('run_a'),
  span_id: runSpanId('run_a'),
  name: 'x',
  kind: 'client',
  began: 1_795_000_000_000,
  ended: 1_795_000_000_250,
  attributes: {},
  failed: false,
  links: [],
}
const read = (span: Partial<Span>) => JSON.parse(otlpJson({ 'service.name': 's' }, [{ ...base, ...span }]))
const spanOf = (span: Partial<Span>) => read(span).resourceSpans[0].scopeSpans[0].spans[0]

describe('otlpJson()', () => {
  test('is the JSON mapping: ids in hex, 64-bit integers as strings, enums as numbers', () => {
    const other = { trace_id: 'c'.repeat(32), span_id: 'd'.repeat(16), attributes: { a: 'b' } }
    const attributes = { text: 'a', whole: 7, part: 0.5, yes: true, list: ['a', 'b'], none: undefined, far: Infinity }
    expect(read({ attributes, failed: true, parent_span_id: 'e'.repeat(16), links: [other] })).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 's' } }] },
          scopeSpans: [
            {
              scope: { name: 'sluice' },
              spans: [
                {
                  traceId: base.trace_id,
                  spanId: base.span_id,
                  parentSpanId: 'e'.repeat(16),
                  name: 'x',
                  kind: 3,
                  startTimeUnixNano: '1795000000000000000',
                  endTimeUnixNano: '1795000000250000000',
                  attributes: [
                    { key: 'text', value: { stringValue: 'a' } },
                    { key: 'whole', value: { intValue: '7' } },
                    { key: 'part', value: { doubleValue: 0.5 } },
                    { key: 'yes', value: { boolValue: true } },
                    { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } } },
                    { key: 'far', value: { doubleValue: 'Infinity' } },
                  ],
                  links: [
                    {
                      traceId: 'c'.repeat(32),
                      spanId: 'd'.repeat(16),
                      attributes: [{ key: 'a', value: { stringValue: 'b' } }],
                    },
                  ],
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    })
  })

  test('what looks like a secret leaves nowhere, and no clock that went back makes a span end before it begins', () => {
    const span = spanOf({ name: 'ask sk-abcdefghijklmnopqrst', attributes: { a: ['Bearer abcdefghijkl'] }, ended: 5 })
    expect(JSON.stringify(span)).not.toMatch(/abcdefgh/)
    expect(span.endTimeUnixNano).toBe(span.startTimeUnixNano)
  })

  test('whatever texts and numbers it is given, it is JSON that says the same', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(fc.double(), fc.boolean())), (attributes) => {
        const seen = spanOf({ attributes }).attributes.map((one: { key: string; value: object }) => [
          one.key,
          Object.values(one.value)[0],
        ])
        expect(seen).toEqual(Object.entries(attributes).map(([key, value]) => [key, valueSeen(value)]))
      }),
      { numRuns: 50 },
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => spanOf({ name }).name.isWellFormed()),
      { numRuns: 50 },
    )
  })
})

function valueSeen(value: number | boolean): unknown {
  if (typeof value === 'boolean') return value
  if (Number.isSafeInteger(value)) return String(value)
  return Number.isFinite(value) ? value : String(value)
}

describe('ids', () => {
  test('follow from run, block, item, epoch and attempt alone, and tell all of them apart', () => {
    const places = [
      { block_id: 'a', epoch: 0, attempt: 1 },
      { block_id: 'a', epoch: 0, attempt: 2 },
      { block_id: 'a', epoch: 1, attempt: 1 },
      { block_id: 'a', item: 0, epoch: 0, attempt: 1 },
      { block_id: 'b', epoch: 0, attempt: 1 },
    ]
    const ids = places.map((place) => attemptSpanId('run_a', place))
    expect(new Set([...ids, runSpanId('run_a'), runSpanId('run_b')]).size).toBe(7)
    expect(ids.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true)
    // printf %s run_a | sha256sum | cut -c1-32
    expect(runTraceId('run_a')).toBe('90a466e2f8698a3cb750f2156342ff40')
  })
})

describe('genAiProvider()', () => {
  const { providers } = SettingsSchema.parse({
    providers: {
      one: { type: 'openai-compatible', url: 'https://api.openai.com/v1' },
      azure: { type: 'openai-compatible', url: 'https://mine.openai.azure.com/openai' },
      fake: { type: 'openai-compatible', url: 'https://notapi.openai.com.example:8443/v1' },
      own: { type: 'ollama', url: 'http://127.0.0.1:11434' },
      aws: { type: 'bedrock', region: 'eu-central-1' },
      anywhere: { type: 'bedrock' },
      web: { type: 'http', url: 'http://models.example' },
    },
  })
  test.each([
    ['one', { name: 'openai', here: false, address: 'api.openai.com', port: 443 }],
    ['azure', { name: 'azure.ai.openai', here: false, address: 'mine.openai.azure.com', port: 443 }],
    ['fake', { name: 'openai', here: false, address: 'notapi.openai.com.example', port: 8443 }],
    ['own', { name: 'ollama', here: false, address: '127.0.0.1', port: 11434 }],
    ['aws', { name: 'aws.bedrock', here: false, address: 'bedrock-runtime.eu-central-1.amazonaws.com', port: 443 }],
    ['anywhere', { name: 'aws.bedrock', here: false }],
    ['web', { name: 'http', here: false, address: 'models.example', port: 80 }],
    ['local', { name: 'sluice.local', here: true }],
    ['constructor', { name: 'sluice.constructor', here: true }],
  ])('%s', (name, expected) => {
    expect(genAiProvider(providers, name)).toEqual(expected)
  })
})
