import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MCP_LIMITS, readCallResult, readToldTools } from '../../../shared/tools/mcp-answers.ts'

const tool = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
})

function problemOf(told: readonly unknown[], allowed: Parameters<typeof readToldTools>[1] = { all: true }): string {
  const read = readToldTools(told, allowed)
  return 'problem' in read ? read.problem : `read ${read.tools.length}`
}

describe('readToldTools()', () => {
  test('keeps what the settings allow, and of it name, description and schema alone', () => {
    const told = [tool('a', { annotations: { readOnlyHint: true }, title: 'A' }), tool('b'), tool('c')]
    expect(readToldTools(told, ['c', 'a'])).toEqual({
      tools: [
        { name: 'a', description: 'Does a.', input_schema: { type: 'object' } },
        { name: 'c', description: 'Does c.', input_schema: { type: 'object' } },
      ],
    })
  })

  test('a tool nobody allowed may be as wrong as it likes', () => {
    expect(problemOf([tool('a'), { name: 'b\u0000', description: 7 }], ['a'])).toBe('read 1')
  })

  test.each([
    [
      'a name with control characters',
      [tool('a\u0007\u001b[31m')],
      'it tells of a tool "a\\u0007\\u001b[31m", which is no name',
    ],
    ['no name', [{ inputSchema: { type: 'object' } }], 'it tells of a tool "", which is no name'],
    [
      'a description of 1 MB',
      [tool('a', { description: 'x'.repeat(1_048_576) })],
      'what it tells of "a" has 1048576 characters; the limit is 4000',
    ],
    [
      'a description that is no text',
      [tool('a', { description: 7 })],
      'what it tells of "a" does not fit the protocol: description',
    ],
    ['no schema', [{ name: 'a' }], 'what it tells of "a" does not fit the protocol: inputSchema'],
    [
      'a schema of no object',
      [tool('a', { inputSchema: { type: 'string' } })],
      'has an input schema whose type is not "object"',
    ],
    [
      'a schema of 1 MB',
      [tool('a', { inputSchema: { type: 'object', title: 'x'.repeat(1_048_576) } })],
      'the input schema of "a" has',
    ],
    ['half a character', [tool('a', { description: 'x\ud800' })], 'what it tells of "a" holds half a character'],
    ['the same twice', [tool('a'), tool('a')], 'it tells of "a" twice'],
    [
      '10,000 tools',
      Array.from({ length: 10_000 }, (_, at) => tool(`t${at}`)),
      'it tells of 10000 tools; the limit is 2000',
    ],
  ])('refuses %s in words', (_, told, words) => {
    expect(problemOf(told)).toContain(words)
  })

  test('says which of the named tools it does not tell of', () => {
    expect(problemOf([tool('find'), tool('put')], ['find', 'delete'])).toBe(
      'it does not tell of "delete", which the settings name; it tells of "find", "put"',
    )
  })
})

describe('readCallResult()', () => {
  test('joins texts, and tells what is none by kind and size', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'A'.repeat(16_000), mimeType: 'image/png' },
      { type: 'audio', data: 'AAAA', mimeType: '' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'two' } },
      {
        type: 'resource',
        resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: 'A'.repeat(4_000_000) },
      },
      { type: 'resource_link', uri: 'file:///b', name: 'b' },
      { type: 'hologram' },
    ]
    expect(readCallResult({ content })).toEqual({
      text: 'one\n[image/png, 12 kB]\n[audio, 3 bytes]\ntwo\n[file:///a.pdf, application/pdf, 3.0 MB]\n[link to b: file:///b]\n[a part of a kind that is not known]',
      is_error: false,
    })
  })

  test('keeps structured content, and leaves out what is too large, in words', () => {
    const structured = { rows: [1, 2], ok: true }
    expect(readCallResult({ content: [], structuredContent: structured, isError: true })).toEqual({
      text: '',
      structured,
      is_error: true,
    })
    const large = readCallResult({ structuredContent: 'x'.repeat(2_000_000) })
    expect(large).toEqual({
      text: expect.stringMatching(/^\[structured content of 2000002 characters, left out/),
      is_error: false,
    })
  })

  test('cuts a text that is too long, and says so', () => {
    const read = readCallResult({ content: [{ type: 'text', text: 'ab'.repeat(1_000_000) }] })
    if (!('text' in read)) throw new Error(read.problem)
    expect(read.text.length).toBeLessThan(MCP_LIMITS.text_characters + 200)
    expect(read.text).toMatch(/\[cut: it has 2000000 characters, the limit is 1048576\]$/)
  })

  test('is total: whatever comes is a result or a problem, and what is kept is well-formed', () => {
    fc.assert(
      fc.property(fc.anything(), (answer) => {
        const read = readCallResult(answer)
        expect('problem' in read ? typeof read.problem : typeof read.text).toBe('string')
      }),
    )
    const half = readCallResult({
      content: [{ type: 'text', text: 'a\ud800' }],
      structuredContent: { 'k\ud800': ['\udfff'] },
    })
    expect(half).toEqual({ text: 'a\ufffd', structured: { 'k\ufffd': ['\ufffd'] }, is_error: false })
  })
})
