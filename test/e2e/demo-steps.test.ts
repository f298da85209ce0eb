import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { runDemo } from './run-demo.ts'

let out = ''
let code: number | null = null
beforeAll(async () => {
  ;({ out, code } = await runDemo('demo-steps.ts'))
})

describe('npm run demo:steps', { tags: ['thorough'] }, () => {
  test('500 tickets go in, and the same 500 come out', () => {
    expect(code, out).toBe(0)
    expect(out).toContain('500 rows came out of 500 tickets, 500 the same to the character')
    expect(out).toMatch(/completed in .* \(7 blocks/)
  })

  test('the gate refused what the program left open, and nothing else', () => {
    const refused = out.split('What the gate refused, and was judged again\n')[1] ?? ''
    expect(refused.match(/✗ judge \(attempt 1\) three-priorities failed: .*priority/g)).toHaveLength(2)
  })

  test('a service was told, and answered later by a callback', () => {
    expect(out).toMatch(/tell_desk: completed/)
    expect(out).toMatch(/desk: completed/)
  })

  test('it says by what the tickets were judged', () => {
    const { status } = spawnSync('python3', ['--version'])
    expect(out).toContain(status === 0 ? 'Python: /' : 'There is no python3 here')
  })
})
