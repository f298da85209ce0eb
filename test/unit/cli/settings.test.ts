import { describe, expect, test } from 'vitest'
import { readSettings } from '../../../clients/cli/settings.ts'

describe('readSettings()', () => {
  test('takes empty variables as not set', () => {
    expect(readSettings({ SLUICE_URL: '', SLUICE_TOKEN: '', NO_COLOR: '' })).toEqual({ color: true, cursor: true })
  })

  test('honours NO_COLOR and a dumb terminal', () => {
    expect(readSettings({ NO_COLOR: '1' })).toEqual({ color: false, cursor: true })
    expect(readSettings({ TERM: 'dumb' })).toEqual({ color: false, cursor: false })
  })

  test('takes http and https targets only', () => {
    expect(readSettings({ SLUICE_URL: 'https://a.example', SLUICE_TOKEN: 't' })).toMatchObject({
      url: 'https://a.example',
      token: 't',
    })
    expect(() => readSettings({ SLUICE_URL: 'file:///etc' })).toThrow(/SLUICE_URL must be/)
  })
})
