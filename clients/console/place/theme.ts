import { effect, signal } from '@preact/signals'

export const THEMES = ['system', 'dark', 'light'] as const
export type Theme = (typeof THEMES)[number]

/** The only thing this page keeps in the browser. */
const KEY = 'sluice-theme'
const systemLight = matchMedia('(prefers-color-scheme: light)')
const isSystemLight = signal(systemLight.matches)
systemLight.addEventListener('change', ({ matches }) => {
  isSystemLight.value = matches
})

/** What the reader chose; `system` follows the machine. */
export const theme = signal<Theme>(stored())

effect(() => {
  const isLight = theme.value === 'light' || (theme.value === 'system' && isSystemLight.value)
  document.documentElement.dataset.theme = isLight ? 'light' : 'dark'
})

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // A browser that keeps nothing: the choice holds while the page is open.
  }
}

function stored(): Theme {
  try {
    return THEMES.find((known) => known === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system'
  }
}
