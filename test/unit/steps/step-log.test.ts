import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { openStepLog } from '../../../functions/steps/step-log.ts'
import { portsOfSchema } from '../../../shared/steps/described-step.ts'
import { STEP_LIMITS } from '../../../shared/steps/step-order.ts'

const textOf = (book: ReturnType<typeof openStepLog>) => Buffer.from(book.close()?.body ?? '').toString('utf8')

describe('the log of a step', () => {
  test('is nothing where nothing was said', () => {
    expect(openStepLog().close()).toBeUndefined()
  })

  test('has the lines of streams whole, whatever pieces they come in, and the last without an end', async () => {
    const book = openStepLog()
    const bytes = Buffer.from('one\r\ntwo ä\nthree')
    await book.follow(Readable.from([...bytes].map((byte) => Buffer.from([byte]))))
    book.add('error', 'four\nfive')
    const kept = book.close()
    expect(Buffer.from(kept?.body ?? '').toString('utf8')).toBe('one\ntwo ä\nthree\nerror: four\nerror: five\n')
    expect(kept?.told).toEqual({ lines: 5, tail: ['one', 'two ä', 'three', 'error: four', 'error: five'] })
  })

  test('keeps its first half and its last, in bytes, and says that it was cut', async () => {
    const book = openStepLog()
    const lines = Array.from({ length: 300_000 }, (_, n) => `line ${n} ä`)
    await book.follow(Readable.from([Buffer.from(`${lines.join('\n')}\n`)]))
    const kept = book.close()
    const text = Buffer.from(kept?.body ?? '').toString('utf8')
    expect(kept?.told.cut).toBe(true)
    expect(kept?.told.lines).toBe(300_000)
    expect(kept?.body.byteLength).toBeLessThanOrEqual(STEP_LIMITS.log_bytes + 10)
    expect(text.startsWith('line 0 ä\nline 1 ä\n')).toBe(true)
    expect(text.endsWith('line 299999 ä\n')).toBe(true)
    for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^(line \d+ ä|\[\.\.\])$/)
  })

  test('holds no value it was told to hide, and no key that stands on several lines', () => {
    const book = openStepLog()
    book.hide(['tiger-seven', 'abc'])
    book.add('info', 'a tiger-seven and abc')
    book.add('info', '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----')
    expect(textOf(book)).toBe('a [redacted] and abc\n[redacted]\n')
    expect(book.withoutHidden('tiger-seven')).toBe('[redacted]')
  })

  test('cuts a line that never ends', async () => {
    const book = openStepLog()
    await book.follow(Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(65_536, 'x'))))
    expect(textOf(book)).toBe(`${'x'.repeat(16_384)}\n`)
  })
})

describe('the last lines of a log, as its event has them', () => {
  test.each([
    ['short ones', Array.from({ length: 20 }, (_, n) => `line ${n}`), 8],
    ['long ones', Array.from({ length: 20 }, () => 'x'.repeat(500)), 6],
    ['long ones of another script', Array.from({ length: 20 }, () => '字'.repeat(500)), 2],
  ])('of %s are as many as fit', (_, lines, kept) => {
    const book = openStepLog()
    for (const line of lines) book.add('info', line)
    const { tail = [] } = book.close()?.told ?? {}
    expect(tail).toHaveLength(kept)
    expect(Buffer.byteLength(JSON.stringify(tail))).toBeLessThanOrEqual(STEP_LIMITS.tail_bytes + 2)
  })

  test('are there of one line that is longer than all that is kept', () => {
    const book = openStepLog()
    book.add('error', 'x'.repeat(9_000_000))
    expect(book.close()?.told.tail).toEqual([`error: ${'x'.repeat(152)}…`])
  })
})

describe('portsOfSchema()', () => {
  test('makes a port of each property; what is no plain type is json', () => {
    const properties = {
      a: { type: 'string', description: 'a name' },
      b: { type: 'integer' },
      c: { type: ['string', 'null'] },
      d: { type: 'string', port: 'file' },
      e: { anyOf: [{ type: 'string' }] },
    }
    expect(portsOfSchema({ type: 'object', properties, required: ['a'] })).toEqual({
      a: { type: 'string', required: true, description: 'a name' },
      b: { type: 'number', required: false },
      c: { type: 'json', required: false },
      d: { type: 'file', required: false },
      e: { type: 'json', required: false },
    })
    expect(portsOfSchema(null)).toEqual({})
  })
})
