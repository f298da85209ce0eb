import { readdirSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'

/**
 * Accounts of people on this machine besides root, who may do everything anyway, and whoever asks: on Linux those of a
 * passwd file with a shell, on macOS who has a folder in /Users. Undefined: nothing is read of this system. Accounts of a
 * directory service are not seen, nor those of services, whose programs could connect as well.
 */
export function accountsBeside(
  platform: NodeJS.Platform,
  uid: number | undefined,
  { passwd, homes }: AccountFiles = { passwd: '/etc/passwd', homes: '/Users' },
): readonly string[] | undefined {
  try {
    if (platform === 'darwin') return homesBeside(homes)
    return platform === 'linux' ? peopleBeside(readFileSync(passwd, 'utf8'), uid) : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether somebody became another user at their own terminal (su, sudo -u): their programs are not this user's, and could
 * connect to what this one starts. Off a terminal the default stays as it is (docs/adr/0066).
 */
export function isTerminalOfAnother(owner: number | undefined, uid: number | undefined): boolean {
  return owner !== undefined && uid !== undefined && owner !== uid
}

interface AccountFiles {
  readonly passwd: string
  readonly homes: string
}

function peopleBeside(passwd: string, me: number | undefined): readonly string[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , id, , , , shell = ''] = line.split(':')
    const uid = Number(id)
    // As login.defs of the usual systems has it; 65534 is nobody.
    const isPerson = uid >= 1_000 && uid < 65_534 && !/\/(nologin|false)$/.test(shell)
    return isPerson && uid !== me ? name : []
  })
}

function homesBeside(homes: string): readonly string[] {
  const none = ['Shared', 'Guest', userInfo().username]
  return readdirSync(homes).filter((name) => !name.startsWith('.') && !none.includes(name))
}
