// `node scripts/install-if-needed.mjs [command ..]`: makes one command enough on a bare clone. It installs packages
// when they are missing or older than the lockfile, and builds the console likewise, then runs the command with
// node_modules/.bin first on PATH, where the install put Node 24. Not a `pre` script: npm skips those under
// ignore-scripts. It runs on the Node a stranger has (>= 20), before any package is there: plain JavaScript, Node's own
// modules only.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole, reasonToBuild } from './build-console.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockfile = join(root, 'package-lock.json')
// npm writes this copy of the lockfile last, so it is there only after a complete install.
const installed = join(root, 'node_modules', '.package-lock.json')

const why = reasonToInstall()
if (why !== undefined) install(why)
const whyBuild = reasonToBuild(root)
if (whyBuild !== undefined) build(whyBuild)
const [command, ...rest] = process.argv.slice(2)
if (command !== undefined) run(command, rest)

function reasonToInstall() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    fail(`Cannot run Sluice with Node ${process.versions.node}: Node 20 or later is needed. Get it from nodejs.org.`)
  }
  if (!existsSync(installed)) return 'node_modules is missing or incomplete'
  if (statSync(installed).mtimeMs < statSync(lockfile).mtimeMs) return 'node_modules is older than package-lock.json'
  return undefined
}

function install(reason) {
  say(`Installing packages (${reason}): npm ci --ignore-scripts`)
  const started = Date.now()
  const npm = npmProgram()
  const done = spawnSync(npm.command, [...npm.first, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: root,
    env: { ...environmentOutsideNpm(), npm_config_loglevel: 'error', npm_config_include: 'dev' },
    // npm's own words go to stderr: stdout belongs to the command that follows.
    stdio: ['ignore', 2, 2],
    shell: npm.first.length === 0 && process.platform === 'win32',
  })
  if (done.error) fail(`Cannot run npm: ${done.error.message}. Install npm, or run "npm ci --ignore-scripts" by hand.`)
  if (done.status !== 0) fail('npm ci failed (its message is above). Nothing was started.', done.status ?? 1)
  notOlderThanLockfile()
  say(`Installed in ${((Date.now() - started) / 1000).toFixed(1)} s.`)
}

/** Without its console the rest works: the page then says what to do. */
function build(reason) {
  const started = Date.now()
  const done = buildConsole(root)
  const seconds = `${((Date.now() - started) / 1000).toFixed(1)} s`
  if (done) say(`Built the console in ${seconds} (${reason}).`)
  else
    say('The console could not be built (the message is above); everything else goes on. `npm run build` tries again.')
}

/** Inside a lifecycle npm names its own program; by hand it is looked up on PATH. */
function npmProgram() {
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

/** Passes signals and exit code through, and ends the command when npm is gone, were it by kill -9. */
function run(program, args) {
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`
  // Node programs of ours get a channel: they end when this process is gone (clients/cli/terminal/session.ts).
  const stdio = program === 'node' ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit'
  // As clients/cli/sluice.mjs: what Node strips and compiles is kept beside the packages, for every process below.
  const compiled = join(root, 'node_modules', '.cache', 'sluice')
  const child = spawn(program, args, {
    stdio,
    env: { NODE_COMPILE_CACHE: compiled, ...process.env, PATH: path },
    shell: process.platform === 'win32',
  })
  const alive = startersWatch()
  setInterval(() => alive() || child.kill('SIGTERM'), 200).unref()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`Cannot run ${program}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

/** Between npm and this process stands npm's shell, which outlives it; where there is no /proc only the shell is seen. */
function startersWatch() {
  const parent = process.ppid
  const npm = process.env.npm_execpath === undefined ? undefined : shellsParent(parent)
  return () => process.ppid === parent && (npm === undefined || existsSync(`/proc/${npm}`))
}

function shellsParent(pid) {
  const stat = `/proc/${pid}/stat`
  const [, name, parent] = existsSync(stat) ? (/^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(stat, 'utf8')) ?? []) : []
  return name !== undefined && /^(ba|da|z|a|k)?sh$/.test(name) ? parent : undefined
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text, code = 1) {
  say(text)
  process.exit(code)
}
