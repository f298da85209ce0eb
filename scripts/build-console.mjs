// Builds the console where it is missing or older than what it is made of. Plain JavaScript and Node's own modules only:
// scripts/install-if-needed.mjs runs it on the Node a stranger has.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** What the page is made of: its own files, what it shares with the API, and the tools (by the lockfile). */
const SOURCES = ['clients/console', 'clients/api', 'shared', 'vite.config.ts', 'package-lock.json']

/** Why dist/console has to be built; undefined: it is there and up to date. Some 400 files are looked at: 5 ms. */
export function reasonToBuild(root) {
  const page = statSync(join(root, 'dist', 'console', 'index.html'), { throwIfNoEntry: false })
  if (page === undefined) return 'it is not built yet'
  return newest(root) > page.mtimeMs ? 'it is older than its sources' : undefined
}

/** Builds beside the present one and exchanges the two, so that a server always finds a whole one. Answers success. */
export function buildConsole(root) {
  const built = join(root, 'dist', 'console')
  const fresh = `${built}.${process.pid}`
  const time = Math.max(Date.now(), newest(root)) / 1000
  const done = spawnSync('vite', ['build', '--logLevel', 'warn', '--outDir', fresh, '--emptyOutDir'], {
    cwd: root,
    env: {
      ...process.env,
      PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`,
      // Of a test run it would be `test`: JSX is then built for debugging, with this machine's paths in it.
      NODE_ENV: 'production',
    },
    // stdout belongs to the command that follows.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  const page = join(fresh, 'index.html')
  if (done.status !== 0 || !existsSync(page)) {
    rmSync(fresh, { recursive: true, force: true })
    return false
  }
  // A file edited while Vite read it is newer than this.
  utimesSync(page, time, time)
  exchange(built, fresh)
  return true
}

function exchange(built, fresh) {
  const old = `${fresh}.old`
  try {
    if (existsSync(built)) renameSync(built, old)
    renameSync(fresh, built)
  } catch (error) {
    // Another process was quicker with the same sources: its build is as good.
    if (!existsSync(join(built, 'index.html'))) throw error
    rmSync(fresh, { recursive: true, force: true })
  }
  rmSync(old, { recursive: true, force: true })
}

/** Milliseconds; folders count too: a file that was taken away changes theirs. */
function newest(root) {
  return Math.max(...SOURCES.map((name) => newestBelow(join(root, name))))
}

function newestBelow(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 0
  if (!found.isDirectory()) return found.mtimeMs
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => newestBelow(join(path, name))))
}
