import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** WCAG 2.2, 1.4.3 and 1.4.11: text on its ground 4.5:1, lines and signs that carry meaning 3:1. */
const CSS = readFileSync(join(import.meta.dirname, '../../../clients/console/theme.css'), 'utf8')
const THEMES = { dark: tokensOf(':root'), light: tokensOf(':root[data-theme="light"]') }

const GROUNDS = ['ground', 'raised', 'sunk']
const TONES = ['good', 'bad', 'busy', 'wait', 'warn', 'quiet']
const TEXT_PAIRS = [
  ...['text', 'text-soft', 'link', ...TONES].flatMap((text) => GROUNDS.map((ground) => [text, ground] as const)),
  ...TONES.map((tone) => [tone, `${tone}-ground`] as const),
  ...TONES.flatMap((tone) => [['text', `${tone}-ground`] as const, ['text-soft', `${tone}-ground`] as const]),
]
const LINE_PAIRS = ['line-strong', 'focus'].flatMap((line) => GROUNDS.map((ground) => [line, ground] as const))

describe.each(['dark', 'light'] as const)('the %s theme', (theme) => {
  const contrastOf = ([front, ground]: readonly [string, string]) =>
    contrast(THEMES[theme][front] ?? '', THEMES[theme][ground] ?? '')

  test('has text that can be read on every ground it stands on', () => {
    const low = TEXT_PAIRS.filter((pair) => !(contrastOf(pair) >= 4.5))
    expect(low.map((pair) => `${pair.join(' on ')}: ${contrastOf(pair).toFixed(2)}`)).toEqual([])
  })

  test('has lines and focus rings that can be seen', () => {
    const low = LINE_PAIRS.filter((pair) => !(contrastOf(pair) >= 3))
    expect(low.map((pair) => `${pair.join(' on ')}: ${contrastOf(pair).toFixed(2)}`)).toEqual([])
  })
})

test('both themes have the same colours, and only themes name colours', () => {
  const colours = (theme: Record<string, string>) => Object.keys(theme).filter((name) => theme[name]?.startsWith('#'))
  expect(colours(THEMES.light)).toEqual(colours(THEMES.dark))
  const elsewhere = CSS.replaceAll(/:root[^{]*\{[^}]*\}/g, '')
  expect(elsewhere.match(/#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/gi)).toBeNull()
})

test('contrast is what the standard says: black on white 21, a grey of its examples 4.54', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5)
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
})

function tokensOf(selector: string): Record<string, string> {
  const block = CSS.split(`${selector} {`, 2)[1]?.split('}', 1)[0] ?? ''
  return Object.fromEntries([...block.matchAll(/--([\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [name, value]))
}

function contrast(a: string, b: string): number {
  const [dark = 0, bright = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other)
  return (bright + 0.05) / (dark + 0.05)
}

/** Relative luminance of `#rrggbb`; NaN for what is no such colour, which fails every bar. */
function luminance(colour: string): number {
  const parts = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour)?.slice(1) ?? ['x', 'x', 'x']
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const value = Number.parseInt(part, 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
