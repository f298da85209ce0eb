import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A command that answers as docker does to what the local place asks of it (infra/local/containers.ts): `version`, `run`,
 * `kill`. A container is a process of this machine with no more than the folder it was given: the image is the path of a
 * Node program without its first slash, started there. What it was called with is in `<folder>/calls`, a line each. It proves nothing of isolation.
 */
export function writeContainerEngine(folder: string): string {
  mkdirSync(join(folder, 'running'), { recursive: true })
  const program = join(folder, 'engine.mjs')
  writeFileSync(program, ENGINE)
  const command = join(folder, 'docker')
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${program}" "${folder}" "$@"\n`)
  chmodSync(command, 0o755)
  return command
}

const ENGINE = `
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
const [folder, what, ...args] = process.argv.slice(2)
appendFileSync(join(folder, 'calls'), JSON.stringify([what, ...args]) + '\\n')
const WITH_VALUE = ['--name', '--network', '--memory', '--cpus', '--pids-limit', '--cap-drop', '--security-opt', '--user', '--volume', '--workdir', '--env']
if (what === 'version') console.log('99.0')
else if (what === 'kill') {
  const file = join(folder, 'running', args[0])
  if (!existsSync(file)) process.exit(1)
  process.kill(-Number(readFileSync(file, 'utf8')), 'SIGKILL')
} else if (what === 'run') {
  const given = {}
  const env = { PATH: process.env.PATH }
  let at = 0
  for (; args[at]?.startsWith('--'); at += 1) {
    if (!WITH_VALUE.includes(args[at])) continue
    given[args[at]] = args[at + 1]
    const [name, value] = args[at] === '--env' ? args[at + 1].split(/=(.*)/s) : []
    if (name !== undefined) env[name] = value ?? process.env[name]
    at += 1
  }
  const [named, ...command] = args.slice(at)
  // No name of an image begins with a slash.
  const image = '/' + named
  if (!existsSync(image)) {
    console.error('Unable to find image ' + image)
    process.exit(125)
  }
  const [outside] = given['--volume'].split(':')
  const running = join(folder, 'running', given['--name'])
  // As a container, it is no child of who ran it: it goes on without.
  const child = spawn(process.execPath, [image, outside, ...command], { cwd: outside, env, stdio: 'inherit', detached: true })
  writeFileSync(running, String(child.pid))
  child.on('close', (code) => {
    rmSync(running, { force: true })
    process.exit(code ?? 137)
  })
}
`
