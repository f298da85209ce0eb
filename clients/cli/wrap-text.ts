/** Text as lines of at most `columns` code points, each after `indent`; a longer word stands on a line of its own. */
export function wrapText(text: string, columns: number, indent = ''): readonly string[] {
  const room = Math.max(columns - indent.length, 20)
  const lines: string[] = []
  let open = ''
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const longer = open === '' ? word : `${open} ${word}`
    if ([...longer].length > room && open !== '') {
      lines.push(open)
      open = word
    } else open = longer
  }
  return [...lines, ...(open === '' ? [] : [open])].map((line) => `${indent}${line}`)
}
