import type { Route } from '../../route.ts'
import { createFile } from './create-file.ts'
import { deleteFile } from './delete-file.ts'
import { getFile } from './get-file.ts'
import { getFileContent } from './get-file-content.ts'
import { listFiles } from './list-files.ts'

export const fileRoutes: readonly Route[] = [createFile, listFiles, getFile, getFileContent, deleteFile]
