import { describe, expect, test } from 'vitest'
import { readSettings } from '../../../clients/cli/terminal/session.ts'

describe('readSettings()', () => {
  test('takes empty variables as not set', () => {
    expect(readSettings({ SLUICE_URL: '', SLUICE_TOKEN: '', NO_COLOR: '' })).toEqual({
      color: true,
      cursor: true,
      logs: false,
      command: 'sluice',
    })
  })

  test('honours NO_COLOR and a dumb terminal', () => {
    expect(readSettings({ NO_COLOR: '1' })).toMatchObject({ color: false, cursor: true })
    expect(readSettings({ TERM: 'dumb' })).toMatchObject({ color: false, cursor: false })
  })

  test('honours FORCE_COLOR before NO_COLOR, as Node does', () => {
    expect(readSettings({ FORCE_COLOR: '1', NO_COLOR: '1' })).toMatchObject({ color: true, forceColor: true })
    expect(readSettings({ FORCE_COLOR: '0' })).toMatchObject({ color: false })
    expect(readSettings({}).forceColor).toBeUndefined()
  })

  test('moves no cursor in CI, where every line is kept', () => {
    expect(readSettings({ CI: 'true' })).toMatchObject({ cursor: false, color: true })
    expect(readSettings({ CI: 'false' }).cursor).toBe(true)
  })

  test('knows how the CLI is typed where npm started it', () => {
    const npm = { npm_command: 'run-script', npm_lifecycle_event: 'sluice' }
    expect(readSettings(npm).command).toBe('npm run -s sluice --')
    expect(readSettings({ ...npm, npm_lifecycle_event: 'demo:steps' }).command).toBe('npm run -s sluice --')
    expect(readSettings({ ...npm, npm_lifecycle_event: 'test' }).command).toBe('sluice')
    expect(readSettings({ ...npm, npm_command: 'exec' }).command).toBe('sluice')
    const npx = { npm_command: 'exec', npm_lifecycle_event: 'npx', npm_lifecycle_script: "'sluice'" }
    expect(readSettings(npx).command).toBe('npx sluice')
    expect(readSettings({ ...npx, npm_lifecycle_script: "'vitest'" }).command).toBe('sluice')
  })

  test.each([
    ['/clones/sluice', '/clones/sluice/brief', 'npm run -s sluice --'],
    ['/clones/sluice', '/clones/sluice', 'npm run -s sluice --'],
    ['/clones/sluice', '/clones/sluice-too', 'npm run -s --prefix /clones/sluice sluice --'],
    ["/ana's clones/sluice", '/work', "npm run -s --prefix '/ana'\\''s clones/sluice' sluice --"],
  ])('of a clone in %s it is typed in %s as npm finds it', (clone, INIT_CWD, command) => {
    const npm = { npm_command: 'run', npm_lifecycle_event: 'sluice', npm_package_json: `${clone}/package.json` }
    expect(readSettings({ ...npm, INIT_CWD }).command).toBe(command)
  })

  test('takes info and error for SLUICE_LOG, anything else is a usage error', () => {
    expect(readSettings({ SLUICE_LOG: 'info' }).logs).toBe(true)
    expect(readSettings({ SLUICE_LOG: 'error' }).logs).toBe(false)
    expect(() => readSettings({ SLUICE_LOG: 'debug' })).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringMatching(/SLUICE_LOG must be info or error/) }),
    )
  })

  test('takes http and https targets only', () => {
    expect(readSettings({ SLUICE_URL: 'https://a.example', SLUICE_TOKEN: 't' })).toMatchObject({
      url: 'https://a.example',
      token: 't',
    })
    expect(() => readSettings({ SLUICE_URL: 'file:///etc' })).toThrow(/SLUICE_URL must be/)
  })
})
