import { Fault } from '../errors.ts'

/** Machine text with the placeholders of these values replaced, all others left as they are. */
export function bindKnownPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([^}]*)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? written(values[name]) : whole,
  )
}

/**
 * Machine text with every `${Placeholder}` replaced by its value (a function's ARN, or its name in the local place),
 * written as JSON text. The only difference between the machine that was compiled and the one that runs.
 */
export function bindPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([^}]*)\}/g, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) {
      const known = Object.keys(values).join(', ')
      throw new Fault('Bug', 'unknown_placeholder', `Cannot bind "\${${name}}": there is a value for ${known} only.`)
    }
    return written(value)
  })
}

function written(value: string | undefined): string {
  return JSON.stringify(value ?? '').slice(1, -1)
}
