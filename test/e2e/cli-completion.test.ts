import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { firstDaily } from '../how-much.ts'
import { type ProjectFolder, projectFolder } from './project-folder.ts'

let project: ProjectFolder
let place: Place
const has = (shell: string) => spawnSync(shell, ['--version']).status === 0

beforeAll(async () => {
  project = await projectFolder()
  await project.run('sluice new dag review')
  await project.run('sluice completion bash > completion.bash')
  place = await openPlace(SettingsSchema.parse({ data_dir: join(project.folder, 'data'), port: 0 }), { listen: true })
})
afterAll(async () => {
  await place.close()
  project.remove()
})

/** What bash has in COMPREPLY after Tab at the end of the line: the words are split as readline splits them. */
async function inBash(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const script = `source ./completion.bash
COMP_WORDS=(sluice ${quoted}); COMP_CWORD=${words.length}
_sluice 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { out } = await project.run(script, env)
  return out.split('\n').filter((line) => line !== '')
}

describe('in bash', () => {
  const rows: readonly [string, readonly string[], readonly string[]][] = [
    ['choices after =, which bash splits', ['run', 'list', '--status', '=', 'fa'], ['failed']],
    ['DAG files after options with values', ['run', 'start', '--input', 'a=b', '--yes', 'dags/h'], ['dags/hello.yaml']],
    ['commands below a command', ['run', 'st'], ['start', 'status', 'stop', 'stop-all']],
    ['nothing where nothing fits', ['run', 'start', '--nonsense-x'], []],
    ['commands', ['ru'], ['run']],
    ['options', ['run', 'start', '--w'], ['--watch']],
    ['choices of an option', ['run', 'list', '--status', 'fa'], ['failed']],
    ['choices of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
    ['folders', ['run', 'start', 'da'], ['dags/', 'data/']],
    ['DAG files', ['run', 'start', 'dags/'], ['dags/hello.yaml', 'dags/review.yaml']],
    ['examples', ['run', 'start', '--example', 'bas'], ['basic']],
    ['gate types', ['gates', 'explain', 'min'], ['min_length']],
  ]
  for (const { tags, rows: some } of firstDaily(2, rows))
    test.each(some)('completes %s', { tags }, async (_, words, expected) => {
      expect(await inBash(words)).toEqual(expected)
    })

  test('offers no option twice and no hidden command', { tags: ['thorough'] }, async () => {
    expect(await inBash(['run', 'start', '--watch', '--w'])).toEqual([])
    expect(await inBash(['stat'])).toEqual([])
  })

  test('completes run ids of the server, the newest first', async () => {
    const started: string[] = []
    for (const _ of [1, 2]) {
      const { out } = await project.run(`sluice run start dags/review.yaml --json --url ${place.url}`)
      started.unshift(JSON.parse(out).run_id)
    }
    const env = { SLUICE_URL: place.url ?? '' }
    expect(await inBash(['run', 'watch', 'run_'], env)).toEqual(started)
  })

  test('completes a second run id behind the first', { tags: ['thorough'] }, async () => {
    const started: string[] = []
    for (const _ of [1, 2]) {
      const { out } = await project.run(`sluice run start dags/review.yaml --json --url ${place.url}`)
      started.unshift(JSON.parse(out).run_id)
    }
    const env = { SLUICE_URL: place.url ?? '' }
    expect(await inBash(['run', 'diff', started[0] ?? '', (started[1] ?? '').slice(0, 12)], env)).toEqual([started[1]])
  })

  test('a server that does not answer holds nobody up', async () => {
    // Port 9 of a machine that drops packets would hang; a closed one refuses: neither may be an error here.
    expect(await inBash(['run', 'watch', ''], { SLUICE_URL: 'http://127.0.0.1:9' })).toEqual([])
  })

  test('Tab at a real prompt puts the word on the line', { tags: ['thorough'] }, async ({ skip }) => {
    if (!has('python3')) skip('no python3 here: no pseudo terminal')
    writeFileSync(join(project.folder, 'tab.py'), TYPE_AT_A_PROMPT)
    const { out } = await project.run('python3 tab.py')
    expect(out).toContain('<sluice completion bash>')
  })
})

describe.each(['zsh', 'fish'] as const)('in %s', (shell) => {
  test('completes commands, options and DAG files', async ({ skip }) => {
    if (!has(shell)) skip(`${shell} is not installed here`)
    const ask = {
      zsh: (line: string) =>
        `zsh -fc 'autoload -Uz compinit; compinit -u -D; source <(sluice completion zsh); words=(${line}); CURRENT=$#words; compadd() { print -l -- "\${@[-1]}" }; _sluice'`,
      fish: (line: string) => `fish -c 'source (sluice completion fish | psub); complete -C "${line}"'`,
    }[shell]
    expect((await project.run(ask('sluice comple'))).out).toContain('completion')
    expect((await project.run(ask('sluice run start --wat'))).out).toContain('--watch')
    expect((await project.run(ask('sluice run start dags/he'))).out).toContain('dags/hello.yaml')
  })

  test('its script says where to put it, and asks `sluice complete`', async () => {
    const { out } = await project.run(`sluice completion ${shell}`)
    expect(out).toContain(`sluice complete ${shell} -- `)
    expect(out.split('\n')[1]).toMatch(/^# Put .*sluice completion/)
  })
})

/** A bash on a pseudo terminal: loads the script, types `echo "<sluice comp` TAB, and prints what stands on the line. */
const TYPE_AT_A_PROMPT = `import os, pty, select, time, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ["PS1"] = "ready> "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

def until(text, seconds=30):
    seen, end = "", time.time() + seconds
    while time.time() < end and text not in seen:
        if select.select([fd], [], [], 0.2)[0]:
            seen += os.read(fd, 4096).decode(errors="replace")
    return seen

until("ready> ")
os.write(fd, b"bind 'set bell-style none'; source <(sluice completion bash); echo load''ed\\n")
until("loaded\\r\\n")
until("ready> ", 5)
os.write(fd, b"sluice comple\\tba\\t")
until("bash", 15)
os.write(fd, b"\\x01echo '<\\x05\\x7f>'\\n")
print(until("bash>\\r\\n", 10))
os.write(fd, b"exit\\n")
`
