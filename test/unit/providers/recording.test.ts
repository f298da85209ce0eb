import { describe, expect, test } from 'vitest'
import { RawAnswersSchema, recordedCall, recordedCallWithPrompt } from '../../../shared/providers/recording.ts'
import { sha256 } from '../../../shared/text/hash.ts'

const answer = { text: 'A', tokens_in: 1, tokens_out: 1, model: 'm', finish_reason: 'stop', raw_ref: '' }
const request = { prompt: 'Ask.', model: 'm', params: {}, idempotency_key: 'run_1/0/0/1/0' }

describe('keptCall()', () => {
  test('is the recorded call with what was asked', () => {
    const kept = recordedCallWithPrompt('own', { ...request, system: 'Be brief.' }, answer)
    expect(kept.asked).toEqual({ system: 'Be brief.', prompt: 'Ask.' })
    const { asked: _, ...recorded } = kept
    expect(recorded).toEqual(recordedCall('own', { ...request, system: 'Be brief.' }, answer))
  })

  test('keeps the beginning of a long text, whole characters only, and the hash of all of it', () => {
    const prompt = `${'x'.repeat(65_535)}\u{1F600}${'y'.repeat(10)}`
    const { asked, prompt_hash } = recordedCallWithPrompt('own', { ...request, prompt }, answer)
    expect(asked?.cut).toBe(true)
    expect(asked?.prompt).toHaveLength(65_536)
    expect(asked?.prompt.isWellFormed()).toBe(true)
    expect(prompt_hash).toBe(sha256(prompt))
  })

  test('is read beside calls of before, which have no words', () => {
    const calls = [recordedCallWithPrompt('own', request, answer), recordedCall('own', request, answer)]
    expect(RawAnswersSchema.parse({ v: 1, calls }).calls.map(({ asked }) => asked?.prompt)).toEqual(['Ask.', undefined])
  })
})
