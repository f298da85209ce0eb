import { beforeAll, describe, expect, test } from 'vitest'
import { runDemo } from './run-demo.ts'

let out = ''
let code: number | null = null
beforeAll(async () => {
  ;({ out, code } = await runDemo('demo-agent.ts'))
}, 120_000)

describe('npm run demo:agent', { tags: ['thorough'] }, () => {
  test('comes to its end, and says that no model answers', () => {
    expect(code, out).toBe(0)
    expect(out).toMatch(/No model: +a script/)
  })

  test('a server from npm gave what the agent read', () => {
    expect(out).toMatch(/✓ 2\.1 mail\.read_text_file \{"path":"ada\.txt"\} completed/)
    expect(out).toContain('Order A-1043 came with a broken lamp')
  })

  test('a gate refused a call, a person changed one and denied one', () => {
    expect(out).toMatch(/✗ 3\.1 .*"amount":1290.* refused/)
    expect(out).toMatch(/approved by user:\S+ with \{"amount":119\}/)
    expect(out).toMatch(/rejected by user:\S+: he cut the cable himself/)
  })

  test('killed in the middle of a call, no call is lost and none is done twice', () => {
    const counted = Object.fromEntries(
      [...(out.split('\nCounted\n')[1] ?? '').matchAll(/^ {2}(.*?) {2,}(\S+)$/gm)].map(([, what, seen]) => [
        what,
        seen,
      ]),
    )
    expect(counted).toMatchObject({
      'turns the model was asked for': '6',
      'turns and calls with a result': '10',
      'of them told twice': '0',
      'requests to the ledger': '2',
      'different keys among them': '1',
      'booked: 119 for A-1043': '1',
      'letters sent': '0',
      'the record holds (run verify)': 'yes',
    })
  })
})
