import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readSettings } from '../../../infra/local/settings.ts'

const dir = mkdtempSync(join(tmpdir(), 'sluice-settings-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const secret = 'arn:aws:ssm:eu-central-1:123456789012:parameter/sluice/big'
const remote = (key?: object) => ({ type: 'http', url: 'http://127.0.0.1:1/', ...(key && { key }) })
const providers = {
  big: remote({ env: 'BIG_KEY', secret }),
  same: remote({ env: 'BIG_KEY' }),
  unset: remote({ env: 'UNSET_KEY' }),
  cloud: remote({ secret }),
  open: remote(),
  here: { type: 'local' },
}

test('of the environment only the variables that keys name are read', () => {
  writeFileSync(join(dir, 'sluice.yaml'), JSON.stringify({ providers }))
  const env = { BIG_KEY: 'k', OTHER_KEY: 'o', AWS_SECRET_ACCESS_KEY: 'a', SLUICE_LOG: 'info', PATH: '/bin' }
  const { keys, verbose } = readSettings([], env, dir)
  expect([...keys]).toEqual([['BIG_KEY', 'k']])
  expect(verbose).toBe(true)
})

test('a log level nobody knows is refused, whatever keys there are', () => {
  expect(() => readSettings([], { SLUICE_LOG: 'loud', BIG_KEY: 'k' }, dir)).toThrow('SLUICE_LOG="loud"')
})

test('the package’s own documents need no key', () => {
  expect(readSettings(['--example'], { BIG_KEY: 'k' }, dir).keys.size).toBe(0)
})

test('anchors are refused with the reason and the fix: nothing here is out of the reach of who runs the place', () => {
  const own = mkdtempSync(join(tmpdir(), 'sluice-settings-'))
  writeFileSync(join(own, 'sluice.yaml'), 'audit: { anchor: s3-object-lock }\n')
  expect(() => readSettings([], {}, own)).toThrow(
    'sluice.yaml: audit.anchor is "s3-object-lock", which only a stage on AWS has: whoever runs this place can rewrite every folder of it; allowed here: none (leave it out, or keep it in the file of a stage, sluice.<stage>.yaml).',
  )
  writeFileSync(join(own, 'sluice.yaml'), 'audit: { anchor: none }\n')
  expect(readSettings([], {}, own).settings.audit.anchor).toBe('none')
  rmSync(own, { recursive: true, force: true })
})
