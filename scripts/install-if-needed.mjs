// Makes one command enough on a bare clone: `npm run demo` and `npm test` call this first. It runs on the Node a
// stranger has (>= 20) before any package is there, so it is plain JavaScript and imports Node only.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockfile = join(root, 'package-lock.json')
// npm writes this copy of the lockfile last, so it is there only after a complete install.
const installed = join(root, 'node_modules', '.package-lock.json')

const why = reasonToInstall()
if (why !== undefined) install(why)

function reasonToInstall() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    fail(
      `Cannot install Sluice with Node ${process.versions.node}: Node 20 or later is needed. Install it from nodejs.org.`,
    )
  }
  if (!existsSync(installed)) return 'node_modules is missing or incomplete'
  if (statSync(installed).mtimeMs < statSync(lockfile).mtimeMs) return 'node_modules is older than package-lock.json'
  return undefined
}

function install(reason) {
  say(`Installing packages (${reason}): npm ci --ignore-scripts`)
  const started = Date.now()
  const { command, first } = npm()
  const args = [...first, 'ci', '--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
  const done = spawnSync(command, [...args, '--loglevel=error'], {
    cwd: root,
    env: environmentOutsideNpm(),
    // npm's own words go to stderr: stdout belongs to the command this runs before.
    stdio: ['ignore', 2, 2],
    shell: first.length === 0 && process.platform === 'win32',
  })
  if (done.error) fail(`Cannot run npm: ${done.error.message}. Install npm, or run "npm ci --ignore-scripts" by hand.`)
  if (done.status !== 0) fail('npm ci failed (its message is above). Nothing was started.', done.status ?? 1)
  notOlderThanLockfile()
  say(`Installed in ${((Date.now() - started) / 1000).toFixed(1)} s.`)
}

/** Inside a lifecycle npm names its own script; by hand it is looked up on PATH. */
function npm() {
  const script = process.env.npm_execpath
  if (script !== undefined && /npm-cli\.c?js$/.test(script)) return { command: process.execPath, first: [script] }
  return { command: 'npm', first: [] }
}

/** Options of a parent npm arrive as npm_config_*; those that would change what an install means are left out. */
function environmentOutsideNpm() {
  const meant =
    /^npm_config_(dry_run|global|location|omit|only|production|also|package_lock|package_lock_only|workspaces?)$/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !meant.test(name)))
}

/** A lockfile with a time in the future (clock skew, an unpacked archive) must not mean an install at every start. */
function notOlderThanLockfile() {
  const { mtime } = statSync(lockfile)
  if (existsSync(installed) && statSync(installed).mtime < mtime) utimesSync(installed, mtime, mtime)
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text, code = 1) {
  say(text)
  process.exit(code)
}
