import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeGate } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import type { Json } from '../../../shared/text/json.ts'
import { inProcessIsolate } from './in-process-isolate.ts'
import { factsOf, judged, refusals } from './judged.ts'

/** A store in memory: what is in it is there. */
const STORED = ['report', 'x'.repeat(1_000)]
const refOf = (content: string) => `objstore://main/${sha256(content)}`
const objects = new Map(STORED.map((content) => [refOf(content), { sha256: sha256(content), bytes: content.length }]))

async function judge(file: Json, more = {}) {
  const parsed = parseCheck({ type: 'artifact_exists', port: 'file', ...more })
  if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join(' '))
  const ports = { isolate: inProcessIsolate, objectFacts: async (ref: string) => objects.get(ref) }
  return judgeGate({ name: 'g', on_fail: 'retry', check: parsed.check }, factsOf({ file }), ports, () => 0)
}

describe('artifact_exists', () => {
  test('passes for what is stored', async () => {
    const verdict = await judge(refOf('report'))
    expect(verdict).toMatchObject({ passed: true, facts: { bytes: 6, sha256: sha256('report') } })
  })

  test('fails for what is not, too small, or another', async () => {
    expect((await judge(refOf('nothing'))).reason).toMatch(/^must be stored: there is no object objstore:\/\/main\//)
    expect((await judge(refOf('report'), { min_bytes: 7 })).reason).toBe('must be at least 7 bytes, has 6')
    expect((await judge(refOf('report'), { sha256: sha256('other') })).reason).toMatch(/^must have sha256 /)
    expect((await judge(refOf('report'), { sha256: sha256('report'), min_bytes: 6 })).passed).toBe(true)
  })

  test.each<[Json]>([
    ['report.md'],
    [`${refOf('report')}/..`],
    [refOf('report').toUpperCase()],
    [`\u202e${refOf('report')}`],
    [`objstore://main/../${sha256('report')}`],
    ['objstore://'.repeat(1_000_000)],
  ])('fails for what is no ref, and asks no store', async (file) => {
    expect((await judge(file)).reason).toMatch(/must be an object ref \(objstore:\/\/tenant\/sha256\), is "/)
  })

  test.each<[Json]>([[7], [[refOf('report')]], [{ ref: refOf('report') }]])('judges nothing of %j', async (file) => {
    expect((await judge(file)).reason).toMatch(/^port file must be an object ref, is a/)
    expect((await judge(file, { not: true })).status).toBe('failed')
  })

  test('is an error where there is no store, or the store fails', async () => {
    const facts = factsOf({ file: refOf('report') })
    expect((await judged({ type: 'artifact_exists', port: 'file' }, facts)).status).toBe('error')
    const parsed = parseCheck({ type: 'artifact_exists', port: 'file' })
    if (!parsed.ok) throw new Error('it parses')
    const broken = { isolate: inProcessIsolate, objectFacts: () => Promise.reject(new Error('damaged')) }
    const use = { name: 'g', on_fail: 'retry', check: parsed.check } as const
    expect((await judgeGate(use, facts, broken, () => 0)).status).toBe('error')
  })

  test.each([[{ sha256: 'abc' }], [{ sha256: 'A'.repeat(64) }], [{ min_bytes: -1 }], [{ path: 'a' }]])(
    'refuses %j at parse',
    (more) => {
      expect(refusals({ type: 'artifact_exists', port: 'file', ...more })).not.toEqual([])
    },
  )

  test('passes exactly up to the size it has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...STORED, 'nothing'), fc.nat(1_200), async (content, min_bytes) => {
        const passed = (await judge(refOf(content), { min_bytes })).passed
        expect(passed).toBe(STORED.includes(content) && content.length >= min_bytes)
      }),
      { numRuns: 60 },
    )
  })
})
