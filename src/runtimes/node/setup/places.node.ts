/** The build is one file, and what it reads stands beside it. */
const isBuilt = !import.meta.url.endsWith('.ts')

const place = (source: string, built: string) => new URL(isBuilt ? built : source, import.meta.url)

export const SCHEMA = place('../../../../schema.sql', './schema.sql')
export const SAMPLE_CONFIG = place('../../../../gateway.yaml', './gateway.yaml')
export const PACKAGE = place('../../../../package.json', '../package.json')
/** With a slash: what is answered as it is. */
export const PUBLIC_FILES = place('../../../console/public/', './public/')
