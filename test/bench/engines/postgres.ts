import { execFile, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const START_MS = 60_000

/** A PostgreSQL of its own in a folder, as initdb sets it up; nothing of an installed server is used but its programs. */
export async function startPostgres(folder: string) {
  const bin = programs()
  const owner = account()
  const data = join(folder, 'postgres')
  mkdirSync(data)
  if ('uid' in owner) chownSync(data, owner.uid, owner.gid)
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale'], {
    ...owner,
    cwd: data,
    stdio: 'ignore',
  })
  const port = await freePort()
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
  const server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
    ...owner,
    cwd: data,
    stdio: 'ignore',
  })
  const ask = async (sql: string, database = 'postgres') => {
    const args = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-d', database, '-Atc', sql]
    const { stdout } = await promisify(execFile)(join(bin, 'psql'), args)
    return stdout.trim()
  }
  const close = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    // Ends its connections and writes what is open.
    server.kill('SIGINT')
    await new Promise((resolve) => server.once('exit', resolve))
  }
  try {
    await ready(ask)
    return { url: `postgresql://postgres@127.0.0.1:${port}`, ask, close }
  } catch (error) {
    await close()
    throw error
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function ready(ask: (sql: string) => Promise<string>): Promise<void> {
  for (const until = performance.now() + START_MS; ; ) {
    try {
      await ask('SELECT 1')
      return
    } catch (error) {
      if (performance.now() > until) throw error
      await pause(100)
    }
  }
}

/** Debian keeps a folder a version and puts none of them on PATH. */
function programs(): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(':')]
  const found = folders.find((folder) => ['initdb', 'postgres', 'psql'].every((name) => existsSync(join(folder, name))))
  if (found !== undefined) return found
  throw new Error(
    `no PostgreSQL on this machine: initdb, postgres and psql are neither in ${debian}/*/bin nor on PATH (Debian: apt-get install postgresql)`,
  )
}

/** PostgreSQL refuses to run as root: there the account that its package made. */
function account(): { readonly uid: number; readonly gid: number } | Record<never, never> {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }))
  return { uid: id('-u'), gid: id('-g') }
}
