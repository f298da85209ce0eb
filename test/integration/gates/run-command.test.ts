import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../../../functions/gates/shell-gate.ts'

const sh = (script: string, timeout_ms = 60_000, path?: string) =>
  runCommand({ argv: ['sh', '-c', script], timeout_ms }, path)

/** What a command that ended said. */
async function said(...given: Parameters<typeof sh>) {
  const answer = await sh(...given)
  if (answer.kind !== 'ended') throw new Error(answer.reason)
  return answer
}

/** Whether a process of that id still runs (a dead one that nobody has asked about does not). */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('what comes of it', () => {
  test('exit code, output and errors are told', async () => {
    expect(await sh('echo out; echo err >&2; exit 3')).toEqual({
      kind: 'ended',
      exit_code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    })
  })

  test('a program that is not there, or may not be run, was never started', async () => {
    expect(await runCommand({ argv: ['no-such-program-7'], timeout_ms: 60_000 }, undefined)).toEqual({
      kind: 'killed',
      reason: expect.stringMatching(/was not started: there is no program "no-such-program-7" here/),
    })
    expect(await runCommand({ argv: ['/'], timeout_ms: 60_000 }, undefined)).toEqual({
      kind: 'killed',
      reason: 'the command was not started: EACCES',
    })
  })

  test('one that ends itself by a signal did not end with a code', async () => {
    expect(await sh('kill -SEGV $$')).toEqual({ kind: 'killed', reason: 'it was ended by SIGSEGV' })
  })

  test.each([
    ['; echo hacked'],
    ['$(echo hacked)'],
    ['`echo hacked`'],
    ['| cat'],
    ['&& echo x'],
    ['*'],
    ['\n'],
    ['-n'],
  ])('a word is a word, no shell reads %j', async (word) => {
    const answer = await runCommand({ argv: ['printf', '%s', word], timeout_ms: 60_000 }, undefined)
    expect(answer).toMatchObject({ kind: 'ended', stdout: word })
  })
})

describe('what it has', () => {
  test('no environment: nothing of ours is visible', async () => {
    process.env.SLUICE_TEST_SECRET = 'canary-5512'
    const { stdout } = await said('tr "\\0" "\\n" < /proc/self/environ; env')
    delete process.env.SLUICE_TEST_SECRET
    expect(stdout).not.toContain('canary')
    // What sh and env set themselves.
    expect(stdout.split('\n').filter((line) => line !== '' && !/^(PWD|OLDPWD|SHLVL|_)=/.test(line))).toEqual([])
  })

  test('PATH, when the operator gives one, and nothing else', async () => {
    const answer = await runCommand({ argv: ['env'], timeout_ms: 60_000 }, '/bin:/usr/bin')
    expect(answer).toMatchObject({ kind: 'ended', stdout: 'PATH=/bin:/usr/bin\n' })
  })

  test('a folder of its own that is empty before and gone afterwards', async () => {
    const one = await said('pwd; ls -A; mkdir -p a/b; echo x > a/b/c; ls')
    const [folder = '', ...listed] = one.stdout.trim().split('\n')
    expect(listed).toEqual(['a'])
    expect(existsSync(folder)).toBe(false)
    const two = await said('pwd')
    expect(two.stdout.trim()).not.toBe(folder)
    expect(existsSync(two.stdout.trim())).toBe(false)
  })

  test('the folder is gone too when it was killed', { tags: ['thorough'] }, async () => {
    const file = (await said('mktemp -u')).stdout.trim()
    expect(await sh(`pwd > ${file}; echo x > y; sleep 600`, 2_000)).toMatchObject({ kind: 'killed' })
    expect(readFileSync(file, 'utf8').trim()).toMatch(/sluice-shell-/)
    expect(existsSync(readFileSync(file, 'utf8').trim())).toBe(false)
    await said(`rm ${file}`)
  })

  test('no standard input', async () => {
    expect(await said('cat; echo end')).toMatchObject({ exit_code: 0, stdout: 'end\n' })
  })
})

describe('what ends it', () => {
  test('time kills it with its children and grandchildren', async () => {
    const marks = await said('mktemp -u')
    const file = marks.stdout.trim()
    const script = `trap "" TERM; (sleep 600 & echo $! > ${file}.1; (sleep 601 & echo $! > ${file}.2; wait); wait) & wait`
    expect(await sh(script, 2_000)).toEqual({ kind: 'killed', reason: 'it ran longer than 2000 ms' })
    const pids = [`${file}.1`, `${file}.2`].map((name) => Number(readFileSync(name, 'utf8')))
    await expect.poll(() => pids.filter(isAlive)).toEqual([])
    await said(`rm ${file}.1 ${file}.2`)
  })

  test('its own end ends what it left in the background', async () => {
    const { stdout } = await said('sleep 600 > /dev/null 2>&1 & echo $!')
    await expect.poll(() => isAlive(Number(stdout))).toBe(false)
  })

  test('so does the end of our own process', async () => {
    const url = new URL('../../../functions/gates/shell-gate.ts', import.meta.url).href
    const file = (await said('mktemp -u')).stdout.trim()
    const command = JSON.stringify({ argv: ['sh', '-c', `echo $$ > ${file}; sleep 600`], timeout_ms: 600_000 })
    const program = `import { runCommand } from ${JSON.stringify(url)}
      import { existsSync } from 'node:fs'
      runCommand(${command})
      setInterval(() => existsSync('${file}') && process.exit(7), 50)`
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', program]).status).toBe(7)
    const pid = Number(readFileSync(file, 'utf8'))
    await expect.poll(() => isAlive(pid)).toBe(false)
    await said(`rm ${file}`)
  })

  test('something that keeps its pipes open does not keep us', async () => {
    const { stdout } = await said('setsid sleep 600 & echo $!')
    process.kill(Number(stdout), 'SIGKILL')
  })

  test.each(['', ' >&2'])('too much output%s kills it', async (where) => {
    expect(await sh(`while :; do echo 0123456789012345678901234567890123456789${where}; done`)).toEqual({
      kind: 'killed',
      reason: 'it wrote more than 65536 bytes',
    })
  })

  test('as much as is allowed does not', async () => {
    const { stdout } = await said('head -c 65536 /dev/zero | tr "\\0" a')
    expect(stdout).toBe('a'.repeat(65_536))
  })
})
