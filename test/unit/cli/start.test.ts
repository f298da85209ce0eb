import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isOtherUsersTerminal, otherAccounts } from '../../../clients/cli/place/start.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-accounts-'))
afterAll(() => rmSync(folder, { recursive: true }))

function of(passwd: string, uid = 1000) {
  const file = join(folder, 'passwd')
  writeFileSync(file, passwd)
  return otherAccounts('linux', uid, { passwd: file, homes: folder })
}

const SYSTEM = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/bin/sh
ana:x:1000:1000:Ana:/home/ana:/bin/bash
`

test('a machine of one person has no other account', () => {
  expect(of(SYSTEM)).toEqual([])
})

test('whoever else may log in is another account: people with a shell, whoever asks', () => {
  const more = `${SYSTEM}bo:x:1001:1001::/home/bo:/usr/bin/zsh\nrobot:x:1002:1002::/home/robot:/usr/sbin/nologin\nold:x:1003:1003::/:/bin/false\n`
  expect(of(more)).toEqual(['bo'])
  expect(of(more, 1001)).toEqual(['ana'])
  expect(of(more, 0)).toEqual(['ana', 'bo'])
})

test('lines that are none of accounts are none', () => {
  expect(of('# comment\n\n+::::::\n:x::::: \nx:y\n')).toEqual([])
})

test('on macOS they are who has a folder', () => {
  const homes = join(folder, 'users')
  for (const name of ['bo', 'Shared', 'Guest', '.localized', userInfo().username]) {
    mkdirSync(join(homes, name), { recursive: true })
  }
  expect(otherAccounts('darwin', 501, { passwd: '', homes })).toEqual(['bo'])
})

test('what cannot be read, or of which system nothing is known, is said to be unknown', () => {
  expect(otherAccounts('linux', 1000, { passwd: join(folder, 'nothing'), homes: '' })).toBeUndefined()
  expect(otherAccounts('win32', undefined)).toBeUndefined()
})

test.each<[string, number | undefined, number | undefined, boolean]>([
  ['their own terminal', 1000, 1000, false],
  ['the terminal of who became another user', 1000, 1001, true],
  ['the terminal of who became root', 1000, 0, true],
  ['no terminal: a service, a script, a container', undefined, 1000, false],
  ['a system without user ids', 0, undefined, false],
])('%s makes a login the default: %s, %s, %s', (_, owner, uid, is) => {
  expect(isOtherUsersTerminal(owner, uid)).toBe(is)
})
